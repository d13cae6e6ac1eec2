// What a browser keeps of its own: how it looks here. Nothing of terminals is in it.

export interface Settings {
  /** auto is as the device has it. */
  scheme: "auto" | "dark" | "light";
  /** Pixels; 0 is the usual size. */
  font: number;
  /** What terminals print is told to a screen reader. */
  aloud: boolean;
}

const name = "tandemux-settings";

export function load(): Settings {
  const s: Settings = { scheme: "auto", font: 0, aloud: false };
  try {
    const kept = JSON.parse(localStorage.getItem(name) ?? "{}");
    for (const k of Object.keys(s) as (keyof Settings)[]) if (typeof kept[k] === typeof s[k]) (s as any)[k] = kept[k];
  } catch {
    // Then it is as at first.
  }
  return s;
}

export const save = (s: Settings) => localStorage.setItem(name, JSON.stringify(s));

/** Drafts of messages, by the chat or task that they are for. */
export const draft = (of: string) => localStorage.getItem("tandemux-draft " + of) ?? "";

export function keep(of: string, text: string) {
  if (text) localStorage.setItem("tandemux-draft " + of, text.slice(0, 100_000));
  else localStorage.removeItem("tandemux-draft " + of);
}
