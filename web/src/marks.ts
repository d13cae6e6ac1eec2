// The commands of a terminal: where each stands on the screen, and how it ended.
import type { IMarker, Terminal } from "@xterm/xterm";
import { line, took } from "./text";

export interface Command {
  id: string;
  line: string;
  done: boolean;
  exit?: number;
  ms?: number;
}

/** most are kept; older ones have scrolled away, or are found in the list of commands. */
const most = 2000;

interface Mark extends Command {
  at: IMarker;
  label?: HTMLElement;
}

/** told is how a command ended, in a few words. */
export const told = (c: Command) => (!c.done ? "…" : (c.exit === undefined ? "" : c.exit === 0 ? "✓ " : `✗ ${c.exit} `) + (c.ms === undefined ? "" : took(c.ms)));

export class Marks {
  private all: Mark[] = [];
  private current?: Mark;
  private wanted?: string; // the id of the current one, which a new state of the terminal has again
  shown = true;

  constructor(
    private readonly term: Terminal,
    private readonly chosen: (c: Command) => void,
  ) {}

  clear() {
    this.wanted = this.current?.id ?? this.wanted;
    for (const m of this.all) m.at.dispose();
    this.all = [];
    this.current = undefined;
  }

  /** began marks the line above the cursor: output begins below a command's line. */
  began(c: Command) {
    const b = this.term.buffer.active;
    if (b.type !== "normal" || this.all.some((m) => m.id === c.id)) return;
    const at = this.term.registerMarker(b.cursorX === 0 && b.baseY + b.cursorY > 0 ? -1 : 0);
    if (!at) return;
    const m: Mark = { ...c, at };
    this.all.push(m);
    if (m.id === this.wanted) {
      this.current = m;
      this.wanted = undefined;
    }
    if (this.all.length > most) this.all.shift()!.at.dispose();
    at.onDispose(() => (this.all = this.all.filter((o) => o !== m)));
    const d = this.shown && this.term.registerDecoration({ marker: at, anchor: "right", width: Math.min(14, this.term.cols), layer: "top" });
    if (d)
      d.onRender((e) => {
        if (m.label === e) return;
        m.label = e;
        e.classList.add("mark");
        e.onclick = () => this.chosen(m);
        e.classList.toggle("here", m === this.current);
        this.draw(m);
      });
  }

  ended(id: string, exit?: number, ms?: number) {
    const m = this.all.find((o) => o.id === id);
    if (m) this.draw(Object.assign(m, { done: true, exit, ms }));
  }

  private draw(m: Mark) {
    if (!m.label) return;
    m.label.textContent = told(m);
    m.label.title = line(m.line);
    m.label.dataset.how = !m.done ? "running" : m.exit === undefined || m.exit === 0 ? "passed" : "failed";
  }

  /** go shows the command before or after the one shown, and gives it. */
  go(back: boolean): Command | undefined {
    const here = this.current?.at.line ?? (back ? Infinity : -1);
    const m = back ? this.all.findLast((o) => o.at.line < here) : this.all.find((o) => o.at.line > here);
    if (!m) return undefined;
    this.wanted = undefined;
    this.current?.label?.classList.remove("here");
    this.current = m;
    m.label?.classList.add("here");
    this.term.scrollToLine(m.at.line);
    return m;
  }

  /** acted is the command that was gone to, or the last. */
  acted(): Command | undefined {
    return this.current ?? this.all[this.all.length - 1];
  }

  /** rows are the lines of a command's output, both ends included. */
  rows(c: Command): [from: number, to: number] | undefined {
    const i = this.all.findIndex((m) => m.id === c.id);
    if (i < 0) return undefined;
    const b = this.term.buffer.normal;
    const next = this.all[i + 1];
    const from = this.all[i].at.line + 1;
    return [from, Math.max(from, (next ? next.at.line : b.baseY + b.cursorY) - 1)];
  }
}
