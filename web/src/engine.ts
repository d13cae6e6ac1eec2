// A terminal's screen, behind an interface that another engine could have.
import "./csp";
import { FitAddon } from "@xterm/addon-fit";
import { ImageAddon } from "@xterm/addon-image";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";

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
}

export interface Screen {
  open(parent: HTMLElement): void;
  dispose(): void;
  /** write shows output; done is called when that has been taken in. */
  write(text: string, done?: () => void): void;
  /** show shows a state in place of all there was. */
  show(text: string, done?: () => void): void;
  /** reset shows nothing, in the modes that a terminal begins with. */
  reset(): void;
  resize(cols: number, rows: number): void;
  /** room is the size that fits into the parent. */
  room(): { cols: number; rows: number } | undefined;
  /** fontSize in pixels; 0: such that cols fit into the parent's width. */
  setFontSize(px: number): void;
  focus(): void;
  paste(text: string): void;
  selection(): string;
  find(text: string, back: boolean): boolean;
  /** text of the rows that show. */
  text(): string;
  /** press sends a key as the program's modes want it: "up", "esc", "tab", … */
  press(key: string): void;
}

export const theme = {
  foreground: "#d8dee9",
  background: "#15181e",
  cursor: "#d8dee9",
  selectionBackground: "#3b5070",
  black: "#22262e",
  red: "#e5737d",
  green: "#98c379",
  yellow: "#e5c07b",
  blue: "#6cb2f5",
  magenta: "#c99bdc",
  cyan: "#62c3cf",
  white: "#d8dee9",
  brightBlack: "#828c9e",
  brightRed: "#ff8f98",
  brightGreen: "#b5de93",
  brightYellow: "#ffd894",
  brightBlue: "#8fc9ff",
  brightMagenta: "#dfb4ef",
  brightCyan: "#82dbe6",
  brightWhite: "#ffffff",
};

/** palette is the theme as x-tandemux/colors tells it. */
export const palette = Object.entries(theme)
  .slice(4)
  .map(([, c]) => c);

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

/** safe is an address that may be opened: a web page's, whole, without what hides in it. */
export function safe(address: string): string | undefined {
  try {
    const u = new URL(address);
    return (u.protocol === "https:" || u.protocol === "http:") && !u.username && !u.password ? u.href : undefined;
  } catch {
    return undefined;
  }
}

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
  private readonly fit = new FitAddon();
  private parent?: HTMLElement;
  private px = 14;
  private gone = false;
  private given = false; // the focus, by the page: nobody chose it

  constructor(private readonly events: Events) {
    const activate = (_: MouseEvent, address: string) => events.link(address);
    this.term = new Terminal({
      allowProposedApi: true,
      cursorBlink: false,
      fontFamily: font,
      fontSize: this.px,
      scrollback,
      theme,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
      linkHandler: { activate, allowNonHttpProtocols: false },
      windowOptions: {},
      rightClickSelectsWord: false,
    });
    this.term.loadAddon(this.fit);
    this.term.loadAddon(new UnicodeGraphemesAddon());
    this.term.loadAddon(new WebLinksAddon(activate));
    this.term.parser.registerOscHandler(52, (data) => this.setClipboard(data));
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
    later(() => !this.gone && accelerated() && this.accelerate()); // the DOM shows the first screen sooner
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

  show(text: string, done?: () => void) {
    // Behind what waits to be taken in, and drawn once: at its end, or in a second.
    this.term.write("\x1bc\x1b[?2026h");
    this.term.write(text);
    this.term.write("\x1b[?2026l", done);
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
      return true;
    }
    return false;
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

export const newScreen = (events: Events): Screen => new Xterm(events);
