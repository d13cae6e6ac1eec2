// How the host's owner has the interface, and what the page makes of it.
import { Chords } from "./keys";
import { root } from "./rpc";
import { type Settings, save } from "./settings";
import type { Store } from "./store";
import { colorsOf, wear } from "./theme";

const light = matchMedia("(prefers-color-scheme: light)");

/** begin has the page follow the device's colours, and what the owner changes meanwhile. */
export function begin(s: Store) {
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

/** dress has the page wear the theme for this device. */
function dress(s: Store) {
  if (!s.setup) return;
  const { scheme } = s.settings;
  s.colors = colorsOf(scheme === "light" || (scheme === "auto" && light.matches) ? s.setup.light : s.setup.dark);
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
