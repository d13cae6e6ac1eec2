// Copy mode: a cursor that keys move over a terminal's text, and what it selects. Commands
// have the names that they have in the terminal interface.

/** A text of rows, of which some show. */
export interface Sheet {
  cols: number;
  rows: number;
  /** Of the row that shows at the top, and how many there are. */
  top(): number;
  length(): number;
  row(y: number): string;
  show(y: number): void;
  /** mark shows the cursor, or what is selected. */
  mark(from: { x: number; y: number }, to: { x: number; y: number }): void;
}

interface Place {
  x: number;
  y: number;
}

const classes = { word: (c: string) => (/\s/.test(c) || c === "" ? 0 : /[\p{L}\p{N}_]/u.test(c) ? 1 : 2), big: (c: string) => (/\s/.test(c) || c === "" ? 0 : 1) };

export class CopyMode {
  private at: Place;
  private from?: Place;
  private lines = false;
  private count = "";

  constructor(
    private readonly sheet: Sheet,
    at: Place,
  ) {
    this.at = at;
    this.draw();
  }

  /** does are the commands that it knows. */
  static does(name: string): boolean {
    return Object.hasOwn(moves, name) || name === "copy-count";
  }

  /** run does one; "copy" and "leave" are for who has the clipboard and the keys. */
  run(name: string, args: string[]): "copy" | "leave" | "copy and leave" | undefined {
    if (name === "copy-count") {
      if (args[0] === "0" && !this.count) return this.run("copy-line-start", []);
      this.count = (this.count + args[0]).slice(0, 4);
      return;
    }
    const n = Number(this.count || args[0] || 1) || 1;
    const given = !!this.count || !!args[0];
    this.count = "";
    let did: ReturnType<CopyMode["run"]>;
    for (let i = 0; i < (counted.test(name) ? n : 1) && !did; i++) did = moves[name](this, given ? n : 0) || undefined;
    if (did !== "leave" && did !== "copy and leave") this.draw();
    return did;
  }

  /** found puts the cursor where something was found. */
  found(at: Place) {
    this.at = at;
    this.draw();
  }

  text(): string {
    const [a, b] = this.ends();
    const rows: string[] = [];
    for (let y = a.y; y <= b.y; y++) {
      const row = this.sheet.row(y);
      rows.push(row.slice(y === a.y ? a.x : 0, y === b.y ? b.x + 1 : undefined).trimEnd());
    }
    return rows.join("\n");
  }

  private ends(): [Place, Place] {
    const from = this.from ?? this.at;
    let [a, b] = from.y < this.at.y || (from.y === this.at.y && from.x <= this.at.x) ? [from, this.at] : [this.at, from];
    if (this.lines) [a, b] = [{ x: 0, y: a.y }, { x: this.sheet.cols - 1, y: b.y }];
    return [a, b];
  }

  private draw() {
    const top = this.sheet.top();
    const rows = this.sheet.rows;
    if (this.at.y < top) this.sheet.show(this.at.y);
    else if (this.at.y >= top + rows) this.sheet.show(this.at.y - rows + 1);
    const [a, b] = this.ends();
    this.sheet.mark(a, b);
  }

  move(dx: number, dy: number) {
    const y = Math.max(0, Math.min(this.sheet.length() - 1, this.at.y + dy));
    this.at = { x: Math.max(0, Math.min(this.sheet.cols - 1, this.at.x + dx)), y };
  }

  to(x: number, y = this.at.y) {
    this.at = { x, y: this.at.y };
    this.move(0, y - this.at.y);
  }

  get row() {
    return this.sheet.row(this.at.y).trimEnd();
  }
  get place() {
    return this.at;
  }
  get view() {
    return this.sheet;
  }

  /** step goes a word on or back: to its start, or to its end. */
  step(kind: keyof typeof classes, by: 1 | -1, end: boolean) {
    const of = classes[kind];
    const char = (p: Place) => this.sheet.row(p.y)[p.x] ?? "";
    const next = (p: Place): Place | undefined => {
      const x = p.x + by;
      if (x >= 0 && x <= this.sheet.row(p.y).trimEnd().length) return { x, y: p.y };
      const y = p.y + by;
      return y < 0 || y >= this.sheet.length() ? undefined : { x: by > 0 ? 0 : Math.max(0, this.sheet.row(y).trimEnd().length - 1), y };
    };
    let p: Place | undefined = this.at;
    if (by > 0 && !end) {
      const was = of(char(p));
      while (p && was && of(char(p)) === was) p = next(p);
      while (p && !of(char(p))) p = next(p);
    } else {
      p = next(p);
      while (p && !of(char(p))) p = next(p);
      if (p)
        for (let q = next(p); q && q.y === p.y && of(char(q)) === of(char(p)); q = next(p)) p = q;
    }
    if (p) this.at = p;
  }

  paragraph(by: 1 | -1) {
    let y = this.at.y + by;
    const blank = (n: number) => !this.sheet.row(n).trim();
    while (y > 0 && y < this.sheet.length() - 1 && blank(y)) y += by;
    while (y > 0 && y < this.sheet.length() - 1 && !blank(y)) y += by;
    this.to(0, y);
  }

  select(lines: boolean) {
    if (this.from && this.lines === lines) this.from = undefined;
    else this.from ??= this.at;
    this.lines = lines && !!this.from;
  }

  swap() {
    if (this.from) [this.at, this.from] = [this.from, this.at];
  }

  clear(): boolean {
    const had = !!this.from;
    this.from = undefined;
    this.lines = false;
    return had;
  }

  get selects() {
    return !!this.from;
  }
  /** whole is for what copies though nothing is selected: the line. */
  whole() {
    if (!this.from) this.select(true);
  }
}

const counted = /^(copy-(left|right|word|big|paragraph)|scroll-)/;

type Move = (m: CopyMode, n: number) => "copy" | "leave" | "copy and leave" | undefined | void;
const page = (m: CopyMode, share: number) => m.move(0, Math.trunc(m.view.rows * share));

const moves: Record<string, Move> = {
  "copy-left": (m) => m.move(-1, 0),
  "copy-right": (m) => m.move(1, 0),
  "scroll-down": (m) => m.move(0, 1),
  "scroll-up": (m) => m.move(0, -1),
  "scroll-half-down": (m) => page(m, 0.5),
  "scroll-half-up": (m) => page(m, -0.5),
  "scroll-page-down": (m) => page(m, 1),
  "scroll-page-up": (m) => page(m, -1),
  "scroll-top": (m) => m.to(0, 0),
  "scroll-bottom": (m) => m.to(0, m.view.length() - 1),
  "copy-line-start": (m) => m.to(0),
  "copy-line-text": (m) => m.to(Math.max(0, m.row.search(/\S/))),
  "copy-line-end": (m) => m.to(Math.max(0, m.row.length - 1)),
  "copy-word-next": (m) => m.step("word", 1, false),
  "copy-word-back": (m) => m.step("word", -1, true),
  "copy-word-end": (m) => m.step("word", 1, true),
  "copy-big-word-next": (m) => m.step("big", 1, false),
  "copy-big-word-back": (m) => m.step("big", -1, true),
  "copy-big-word-end": (m) => m.step("big", 1, true),
  "copy-paragraph-next": (m) => m.paragraph(1),
  "copy-paragraph-back": (m) => m.paragraph(-1),
  "copy-screen-top": (m) => m.to(0, m.view.top()),
  "copy-screen-middle": (m) => m.to(0, m.view.top() + (m.view.rows >> 1)),
  "copy-screen-bottom": (m) => m.to(0, m.view.top() + m.view.rows - 1),
  "copy-go-line": (m, n) => m.to(0, n ? n - 1 : m.view.length() - 1),
  "copy-select": (m) => m.select(false),
  "copy-select-lines": (m) => m.select(true),
  "copy-other-end": (m) => m.swap(),
  "copy-select-clear": (m) => void m.clear(),
  "copy-selection": (m) => (m.whole(), "copy"),
  "copy-yank": (m) => (m.selects ? "copy and leave" : "leave"),
  "copy-escape": (m) => (m.clear() ? undefined : "leave"),
  "copy-exit": () => "leave",
};
