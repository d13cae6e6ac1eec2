// A terminal's screen, behind an interface that another engine could have.
import "./csp";
import { FitAddon } from "@xterm/addon-fit";
import { ImageAddon } from "@xterm/addon-image";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";
import { CopyMode } from "./copymode";
import { type Command, Marks } from "./marks";

/** What a screen tells the page. */
export interface Events {
  /** Bytes that a key, the mouse or a paste makes, in the modes of the program. */
  input(data: string): void;
  /** A link was opened; the address is a program's. */
  link(address: string): void;
  /** A program wants to set the clipboard. */
  copy(text: string): void;
  /** Text is to be pasted: ask first, if it is to be asked. */
  paste(text: string, bracketed: boolean): void;
  bell(): void;
  focused(): void;
  /** The mark of a command was chosen. */
  command(c: Command): void;
}

/** A part of a terminal's output, and the command that printed it. */
export interface Part {
  text: string;
  command?: Command;
}

export interface Screen {
  open(parent: HTMLElement): void;
  dispose(): void;
  /** write shows output; done is called when that has been taken in. */
  write(text: string, done?: () => void): void;
  /** show shows a state in place of all there was. */
  show(parts: Part[], done?: () => void): void;
  /** began and ended mark commands, behind the output so far. */
  began(c: Command): void;
  ended(id: string, exit?: number, ms?: number): void;
  /** reset shows nothing, in the modes that a terminal begins with. */
  reset(): void;
  resize(cols: number, rows: number): void;
  /** room is the size that fits into the parent. */
  room(): { cols: number; rows: number } | undefined;
  /** fontSize in pixels; 0: such that cols fit into the parent's width. */
  setFontSize(px: number): void;
  fontSize(): number;
  focus(): void;
  paste(text: string): void;
  selection(): string;
  /** find selects the next such text, and says where it is. */
  find(text: string, back: boolean): { x: number; y: number } | undefined;
  /** text of the rows that show. */
  text(): string;
  readonly marks: Marks;
  /** selectCommand selects a command's output. */
  selectCommand(c: Command): void;
  scroll(lines: number): void;
  /** copyMode gives the keys a cursor over the text. */
  copyMode(): CopyMode;
  endCopyMode(): void;
  wear(theme: Record<string, string>): void;
  /** aloud has what is printed told to a screen reader. */
  aloud(on: boolean): void;
  /** press sends a key as the program's modes want it: "up", "esc", "tab", … */
  press(key: string): void;
}

const font = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';
const scrollback = 10_000;

// The host answers what programs ask; an answer of the page's would be a second one, or keys
// that nobody typed.
const questions: { prefix?: string; intermediates?: string; final: string }[] = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { prefix: ">", final: "q" },
  { final: "t" },
  { prefix: "?", final: "u" },
];

const keys: Record<string, [normal: string, application: string]> = {
  esc: ["\x1b", "\x1b"],
  tab: ["\t", "\t"],
  enter: ["\r", "\r"],
  up: ["\x1b[A", "\x1bOA"],
  down: ["\x1b[B", "\x1bOB"],
  right: ["\x1b[C", "\x1bOC"],
  left: ["\x1b[D", "\x1bOD"],
  home: ["\x1b[H", "\x1bOH"],
  end: ["\x1b[F", "\x1bOF"],
  pgup: ["\x1b[5~", "\x1b[5~"],
  pgdn: ["\x1b[6~", "\x1b[6~"],
};

let fast: boolean | undefined;

/** accelerated reports whether there is a graphics processor: WebGL that the main processor
 * computes takes more than the DOM does. */
function accelerated(): boolean {
  if (fast === undefined) {
    const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    fast = !!gl && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER)));
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return fast;
}

/** later does something when the page has nothing else to do. */
const later = (f: () => void) => ((globalThis as any).requestIdleCallback ?? ((g: () => void) => setTimeout(g, 500)))(f);

class Xterm implements Screen {
  private readonly term: Terminal;
  readonly marks: Marks;
  private readonly fit = new FitAddon();
  private parent?: HTMLElement;
  private px = 14;
  private gone = false;
  private shows = false;
  private given = false; // the focus, by the page: nobody chose it

  constructor(
    private readonly events: Events,
    look: Look,
  ) {
    const activate = (_: MouseEvent, address: string) => events.link(address);
    this.term = new Terminal({
      allowProposedApi: true,
      cursorBlink: false,
      fontFamily: font,
      fontSize: this.px,
      scrollback,
      theme: look.theme,
      screenReaderMode: look.aloud,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
      linkHandler: { activate, allowNonHttpProtocols: false },
      windowOptions: {},
      rightClickSelectsWord: false,
    });
    this.marks = new Marks(this.term, (c) => events.command(c));
    this.marks.shown = look.marks;
    this.term.loadAddon(this.fit);
    this.term.loadAddon(new UnicodeGraphemesAddon());
    this.term.loadAddon(new WebLinksAddon(activate));
    this.term.parser.registerOscHandler(52, (data) => this.setClipboard(data));
    // A character that is to be repeated ten million times (REP) would stop the page for as
    // long as that takes: what is more than a screen of them shows no more than one.
    const handler = (this.term as any)._core._inputHandler;
    const repeat = handler.repeatPrecedingCharacter;
    handler.repeatPrecedingCharacter = (p: any) => {
      p.params[0] = Math.min(p.params[0], this.term.cols * this.term.rows);
      return repeat.call(handler, p);
    };
    for (const q of questions) this.term.parser.registerCsiHandler(q, () => true);
    for (const osc of [4, 10, 11, 12]) this.term.parser.registerOscHandler(osc, (data) => data.includes("?"));
    this.term.parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);
    this.term.onData((d) => events.input(d));
    this.term.onBinary((d) => events.input(d));
    this.term.onBell(() => events.bell());
  }

  open(parent: HTMLElement) {
    this.parent = parent;
    this.term.open(parent);
    this.term.loadAddon(new ImageAddon({ pixelLimit: 4 << 20, storageLimit: 32, sixelSizeLimit: 8 << 20, iipSizeLimit: 8 << 20 }));
    const area = this.term.textarea!;
    area.setAttribute("aria-label", "terminal");
    area.setAttribute("autocapitalize", "none");
    area.addEventListener("focus", () => this.given || this.events.focused());
    // A text that ends the brackets of a paste could type: no control comes through but
    // newlines and tabs.
    parent.addEventListener(
      "paste",
      (e) => {
        e.preventDefault();
        e.stopPropagation();
        const text = e.clipboardData?.getData("text/plain") ?? "";
        if (text) this.events.paste(text, this.term.modes.bracketedPasteMode);
      },
      true,
    );
  }

  /** accelerate has the graphics processor draw; without one the DOM does. */
  private accelerate() {
    try {
      const gl = new WebglAddon();
      gl.onContextLoss(() => gl.dispose());
      this.term.loadAddon(gl);
    } catch {
      // It has no context left.
    }
  }

  dispose() {
    this.gone = true;
    this.term.dispose();
  }

  write(text: string, done?: () => void) {
    this.term.write(text, done);
  }

  show(parts: Part[], done?: () => void) {
    // Behind what waits to be taken in, and drawn once: at its end, or in a second.
    this.term.write("\x1bc\x1b[?2026h", () => this.marks.clear());
    let text = "";
    for (const p of parts) {
      if (p.command) {
        this.term.write(text);
        text = "";
        this.began(p.command);
      }
      text += p.text;
    }
    this.term.write(text + "\x1b[?2026l", () => {
      done?.();
      if (!this.shows) later(() => !this.gone && accelerated() && this.accelerate()); // the DOM shows the first screen sooner
      this.shows = true;
    });
  }

  began(c: Command) {
    this.term.write("", () => this.marks.began(c));
  }

  ended(id: string, exit?: number, ms?: number) {
    this.term.write("", () => this.marks.ended(id, exit, ms));
  }

  selectCommand(c: Command) {
    const rows = this.marks.rows(c);
    if (rows) this.term.selectLines(...rows);
  }

  scroll(lines: number) {
    this.term.scrollLines(lines);
  }

  copyMode() {
    const b = this.term.buffer.active;
    const term = this.term;
    return new CopyMode(
      {
        get cols() {
          return term.cols;
        },
        get rows() {
          return term.rows;
        },
        top: () => b.viewportY,
        length: () => b.length,
        row: (y) => b.getLine(y)?.translateToString(false) ?? "",
        show: (y) => term.scrollToLine(y),
        mark: (from, to) => term.select(from.x, from.y, (to.y - from.y) * term.cols + to.x - from.x + 1),
      },
      { x: b.cursorX, y: b.baseY + b.cursorY },
    );
  }

  endCopyMode() {
    this.term.clearSelection();
    this.term.scrollToBottom();
  }

  wear(theme: Record<string, string>) {
    this.term.options.theme = theme;
  }

  aloud(on: boolean) {
    this.term.options.screenReaderMode = on;
  }

  reset() {
    this.term.write("\x1bc");
  }

  resize(cols: number, rows: number) {
    if (cols !== this.term.cols || rows !== this.term.rows) this.term.resize(Math.max(2, cols), Math.max(1, rows));
    if (this.px === 0) this.shrink();
  }

  room() {
    const d = this.fit.proposeDimensions();
    return d && d.cols >= 2 && d.rows >= 1 ? d : undefined;
  }

  setFontSize(px: number) {
    this.px = px;
    if (px) this.term.options.fontSize = px;
    else this.shrink();
  }

  fontSize() {
    return this.term.options.fontSize!;
  }

  private shrink() {
    const width = this.parent?.clientWidth;
    if (!width) return;
    this.term.options.fontSize = Math.max(5, Math.min(14, Math.floor((width - 16) / this.term.cols / 0.602)));
  }

  focus() {
    this.given = true;
    this.term.focus();
    this.given = false;
  }

  paste(text: string) {
    this.term.paste(text.replace(/\r\n/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ""));
  }

  selection() {
    return this.term.getSelection();
  }

  find(text: string, back: boolean) {
    const b = this.term.buffer.active;
    const from = this.term.getSelectionPosition()?.start ?? { x: 0, y: back ? b.length : 0 };
    const want = text.toLowerCase();
    for (let i = 0; want && i <= b.length; i++) {
      const y = (from.y + (back ? -i : i) + b.length) % b.length;
      const line = b.getLine(y);
      const row = line?.translateToString(true).toLowerCase() ?? "";
      const x = i ? (back ? row.lastIndexOf(want) : row.indexOf(want)) : back ? (from.x ? row.lastIndexOf(want, from.x - 1) : -1) : row.indexOf(want, from.x + (this.term.hasSelection() ? 1 : 0));
      if (x < 0) continue;
      this.term.select(x, y, want.length);
      this.term.scrollToLine(Math.max(0, y - (this.term.rows >> 1)));
      return { x, y };
    }
    return undefined;
  }

  /** setClipboard is a program's wish (OSC 52). It learns nothing of what is there. */
  private setClipboard(data: string) {
    const i = data.indexOf(";");
    try {
      if (i >= 0) this.events.copy(new TextDecoder().decode(Uint8Array.from(atob(data.slice(i + 1)), (c) => c.charCodeAt(0))));
    } catch {
      // It was no base64, such as "?", which asks.
    }
    return true;
  }

  text() {
    const b = this.term.buffer.active;
    const rows: string[] = [];
    for (let y = 0; y < this.term.rows; y++) rows.push(b.getLine(b.viewportY + y)?.translateToString(true) ?? "");
    return rows.join("\n");
  }

  press(key: string) {
    const k = keys[key];
    this.events.input(k ? k[this.term.modes.applicationCursorKeysMode ? 1 : 0] : key);
  }
}

/** How screens look, which the person chooses. */
export interface Look {
  theme: Record<string, string>;
  aloud: boolean;
  /** Commands are marked at their lines. */
  marks: boolean;
}

export const newScreen = (events: Events, look: Look): Screen => new Xterm(events, look);
