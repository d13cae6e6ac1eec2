// Unified diffs, as git prints them.

export interface Line {
  /** "+", "-" or " ". */
  kind: string;
  text: string;
  old?: number;
  now?: number;
}

export interface Hunk {
  head: string;
  lines: Line[];
}

export interface FileDiff {
  path: string;
  from?: string;
  gone: boolean;
  /** What it says in place of lines: a binary file, another mode. */
  notes: string[];
  hunks: Hunk[];
}

/** unquoted is a path that git wrote in quotes, with escapes of bytes. */
function unquoted(s: string): string {
  s = s.replace(/\t$/, ""); // behind a name that has spaces
  if (!s.startsWith('"')) return s;
  const bytes: number[] = [];
  const named: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, v: 11, f: 12 };
  for (const m of s.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([\s\S])/gu))
    if (m[1]) bytes.push(parseInt(m[1], 8));
    else if (m[2]) bytes.push(named[m[2]] ?? m[2].charCodeAt(0));
    else bytes.push(...new TextEncoder().encode(m[3]));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

const name = (s: string) => unquoted(s).replace(/^[ab]\//, "");

/** parse reads a diff of any number of files. */
export function parse(text: string): FileDiff[] {
  const all: FileDiff[] = [];
  let file: FileDiff | undefined;
  let old = 0;
  let now = 0;
  let left: [number, number] = [0, 0]; // lines of the hunk that are to come
  for (const l of text.split("\n")) {
    const hunk = file?.hunks[file.hunks.length - 1];
    if (hunk && (left[0] > 0 || left[1] > 0)) {
      const kind = l[0] === "+" || l[0] === "-" ? l[0] : " ";
      if (l[0] === "\\") continue;
      hunk.lines.push({ kind, text: l.slice(1), ...(kind !== "+" && { old: old++ }), ...(kind !== "-" && { now: now++ }) });
      if (kind !== "+") left[0]--;
      if (kind !== "-") left[1]--;
      continue;
    }
    let m: RegExpExecArray | null;
    if (l.startsWith("diff --git ")) {
      // Both names, which are the same where no other line says more.
      const both = l.slice(11);
      const half = both.length >> 1;
      const path = name(both.slice(half + 1));
      all.push((file = { path: path === name(both.slice(0, half)) ? path : both, gone: false, notes: [], hunks: [] }));
    } else if (!file) continue;
    else if ((m = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$/.exec(l))) {
      old = Number(m[1]);
      now = Number(m[3]);
      left = [Number(m[2] ?? 1), Number(m[4] ?? 1)];
      file.hunks.push({ head: m[5].trim(), lines: [] });
    } else if (l.startsWith("+++ ") && l !== "+++ /dev/null") file.path = name(l.slice(4));
    else if (l.startsWith("rename from ")) file.from = unquoted(l.slice(12));
    else if (l.startsWith("rename to ")) file.path = unquoted(l.slice(10));
    else if (l.startsWith("deleted file")) file.gone = true;
    else if (/^(new file mode (?!100644)|old mode|new mode|Binary files)/.test(l)) file.notes.push(l);
  }
  return all;
}
