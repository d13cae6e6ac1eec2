// How the host's owner has the interface, and what the page makes of it.
import { Chords } from "./keys";
import type { Interface } from "./page";
import { root } from "./rpc";
import { type Settings, save } from "./settings";
import type { Store } from "./store";
import { colorsOf, wear } from "./theme";

const light = matchMedia("(prefers-color-scheme: light)");

const themes = "tandemux-themes";

/** begin has the page wear what it wore last, and follow the device's colours and what the
 * owner changes meanwhile. */
export function begin(s: Store) {
  try {
    const kept: Themes = JSON.parse(localStorage.getItem(themes) ?? "null");
    if (kept && !s.guest) dress(s, kept);
  } catch {
    // Then the first colours are the page's own.
  }
  light.addEventListener("change", () => dress(s));
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && s.line === "online" && void learn(s));
}

/** learn asks how the owner has the interface, which may change. */
export async function learn(s: Store) {
  if (s.guest) return;
  const r = await s.conn.call("x-tandemux/interface", { channel: root }).catch(() => undefined); // a host without it has no keys
  if (!r || JSON.stringify(r) === JSON.stringify(s.setup)) return;
  s.setup = r;
  s.chords = new Chords(r.keys);
  dress(s);
}

type Themes = Pick<Interface, "dark" | "light">;

/** dress has the page wear the theme for this device. */
function dress(s: Store, of: Themes | undefined = s.setup) {
  if (!of) return;
  const { scheme } = s.settings;
  const next = colorsOf(scheme === "light" || (scheme === "auto" && light.matches) ? of.light : of.dark);
  localStorage.setItem(themes, JSON.stringify({ dark: of.dark, light: of.light }));
  if (JSON.stringify(next) === JSON.stringify(s.colors)) return s.tell(); // each terminal would draw itself anew
  s.colors = next;
  wear(s.colors);
  for (const f of s.feeds.values()) for (const screen of f.screens) screen.wear(s.colors.terminal);
  if (s.line === "online") s.tellColors();
  s.tell();
}

/** set changes what this browser keeps of its own. */
export function set(s: Store, change: Partial<Settings>) {
  s.settings = { ...s.settings, ...change };
  save(s.settings);
  for (const f of s.feeds.values()) for (const screen of f.screens) screen.aloud(s.settings.aloud);
  dress(s);
  s.tell();
}
