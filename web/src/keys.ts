// Keys as package keymap has them: their names, and chords of them that are bound to
// commands. It knows nothing of the page.

export interface Press {
  key: string;
  code?: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
}

/** What x-tandemux/interface tells of a key. */
export interface Binding {
  mode: string;
  keys: string;
  command: string;
  args?: string[];
  repeat?: boolean;
}

const named: Record<string, string> = {
  " ": "space", Enter: "enter", Escape: "esc", Backspace: "backspace", Tab: "tab", Delete: "delete", Insert: "insert",
  Home: "home", End: "end", PageUp: "pgup", PageDown: "pgdown", ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right",
};

/** keyOf is the canonical name of a key press, "" for one that has none: a modifier alone. */
export function keyOf(e: Press): string {
  const char = [...e.key].length === 1 && e.key !== " ";
  let key = named[e.key] ?? (char ? e.key : /^F([1-9]|1\d|2[0-4])$/.test(e.key) ? e.key.toLowerCase() : "");
  if (!key) return "";
  let shift = e.shiftKey;
  // With alt a Mac types another character: what the key has on it is meant.
  if (char && e.altKey && /^Key[A-Z]$/.test(e.code ?? "")) key = e.shiftKey ? e.code![3] : e.code![3].toLowerCase();
  const plain = !e.ctrlKey && !e.metaKey;
  if (char || (key === "space" && plain && !e.altKey)) {
    if (!plain) key = key.toLowerCase();
    // What a key types has its shift already.
    if (plain || key.toLowerCase() === key.toUpperCase()) shift = false;
  }
  if (e.ctrlKey && key === "@") key = "space";
  return (e.ctrlKey ? "ctrl+" : "") + (e.altKey ? "alt+" : "") + (shift ? "shift+" : "") + (e.metaKey ? "super+" : "") + key;
}

/** How long after a binding that repeats its last key alone does it again. */
const repeatTime = 500;

/** Chords reads key presses one by one. */
export class Chords {
  private held: string[] = [];
  private again?: { lead: string; until: number };

  constructor(private readonly bindings: Binding[]) {}

  get pending(): string {
    return this.held.join(" ");
  }

  cancel() {
    this.held = [];
    this.again = undefined;
  }

  /** press gives the binding that a key completes; "more" where longer chords begin so;
   * undefined where the key is not bound and goes on to where it was meant for. */
  press(key: string, mode: string, now: number): Binding | "more" | "none" | undefined {
    if (this.again && now < this.again.until && !this.held.length) {
      const b = this.find((this.again.lead ? this.again.lead + " " : "") + key, "normal");
      if (b?.repeat) return this.done(b, now);
    }
    this.again = undefined;
    const chord = [...this.held, key].join(" ");
    for (const m of mode === "normal" ? ["normal"] : [mode, "normal"]) {
      const b = this.find(chord, m);
      if (b) return this.done(b, now);
      if (this.bindings.some((o) => o.mode === m && o.keys.startsWith(chord + " "))) {
        this.held.push(key);
        return "more";
      }
    }
    const was = this.held.length;
    this.held = [];
    return was ? "none" : undefined;
  }

  private find(keys: string, mode: string) {
    return this.bindings.find((b) => b.mode === mode && b.keys === keys);
  }

  private done(b: Binding, now: number): Binding {
    this.held = [];
    this.again = b.repeat ? { lead: b.keys.slice(0, Math.max(0, b.keys.lastIndexOf(" "))), until: now + repeatTime } : undefined;
    return b;
  }

  /** following are the bindings that the keys pressed so far begin. */
  following(): Binding[] {
    const lead = this.pending + " ";
    return this.bindings.filter((b) => b.mode === "normal" && b.keys.startsWith(lead));
  }
}

/** bytes is what a key types, for the prefix that is to be sent: undefined where that is not known. */
export function bytes(key: string): string | undefined {
  const m = /^ctrl\+(space|[a-z[\\\]^_])$/.exec(key);
  if (m) return m[1] === "space" ? "\0" : String.fromCharCode(m[1].toUpperCase().charCodeAt(0) & 31);
  return [...key].length === 1 ? key : ({ esc: "\x1b", tab: "\t", enter: "\r", space: " ", backspace: "\x7f" } as Record<string, string>)[key];
}
