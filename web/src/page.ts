// What the parts of the page tell each other.
import type { Known } from "./commands";
import type { Binding } from "./keys";
import type { Theme } from "./theme";

export interface Say {
  text: string;
  kind: "info" | "warning";
}

/** A question of the page's own; with a field what is written there is its answer. */
export interface Question {
  text: string;
  detail?: string;
  field?: string;
  value?: string;
  yes: string;
  do: (text?: string) => void;
}

/** What x-tandemux/interface answers: how the host's owner has the interface. */
export interface Interface {
  prefix: string;
  keys: Binding[];
  commands: Known[];
  dark: Theme;
  light: Theme;
  commandMarks: boolean;
}

export type Open = { kind: "layout"; name: string } | { kind: "terminal"; uri: string } | { kind: "reading"; uri: string; command?: string } | { kind: "chat"; uri: string } | { kind: "task"; id: string } | { kind: "search"; what: "search-all" | "history"; text: string };

/** What commands do with the page around the layout. */
export interface Around {
  place(name: string): void;
  open(o: Open): void;
  layout(name: string): void;
  /** read shows a terminal's commands, one of them unfolded. */
  read(uri: string, command?: string): void;
  palette(typed: string): void;
}
