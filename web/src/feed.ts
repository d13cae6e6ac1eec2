// What terminals print, on its way to the screens that show them: as it comes, or in a flood
// as a screen now and then.
import type { Part, Screen } from "./engine";
import type { Store } from "./store";
import type * as ahp from "./types";

// A terminal that brings this much while the screen has not taken in as much floods.
export const floodBytes = 128 << 10;
/** How long a flood may pause. */
export const calmMs = 800;
const glimpseMs = 100;

/** A terminal that shows somewhere on the page. */
export class Feed {
  screens = new Set<Screen>();
  waiting = 0; // characters that the screens have not taken in
  flood = 0; // those of them that came as output
  skims = false;
  rests = 0; // the timer until the next screen of a flood shows, 0 for none
  next?: ahp.TerminalState; // that screen
  first = true; // nothing was shown yet: the screen comes before the history
  settles = 0; // the timer until its history is asked for, 0 for none
  asked = 0; // the number of our claim that has no answer yet
  count = 0; // of views
}

export function show(feed: Feed, state: ahp.TerminalState) {
  const parts: Part[] = (state.content as any[]).map((p) =>
    p.type === "command"
      ? { text: p.output ?? "", command: { id: p.commandId, line: p.commandLine, done: !!p.isComplete, exit: p.exitCode, ms: p.durationMs } }
      : { text: p.value ?? "" },
  );
  const length = parts.reduce((n, p) => n + p.text.length, 0);
  for (const screen of feed.screens) {
    if (state.cols && state.rows) screen.resize(state.cols, state.rows);
    feed.waiting += length;
    screen.show(parts, () => (feed.waiting -= length));
  }
}

/** glimpse shows screens of a flood, a few in a second: drawing takes from what prints. */
export function glimpse(feed: Feed, state: ahp.TerminalState | undefined, last = false) {
  if (last) {
    clearTimeout(feed.rests);
    feed.rests = 0;
  }
  if (feed.rests) {
    feed.next = state;
    return;
  }
  feed.next = undefined;
  if (!state || !feed.skims) return;
  show(feed, state);
  if (!last)
    feed.rests = window.setTimeout(() => {
      feed.rests = 0;
      glimpse(feed, feed.next);
    }, glimpseMs);
}

/** settle asks for all of a terminal of which the screen alone was shown. */
export function settle(s: Store, uri: string, feed: Feed, after: number) {
  clearTimeout(feed.settles);
  feed.settles = window.setTimeout(() => {
    feed.settles = 0;
    if (s.feeds.get(uri) === feed && !feed.skims) void s.at(uri)?.subscribe(uri).catch(() => {});
  }, after);
}
