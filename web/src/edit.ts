// The changes of files that a tool call asks for, whole.
import type * as ahp from "./types";

export interface Edit {
  path: string;
  /** Lines of a diff, each with its mark. */
  lines: string[];
  /** A part of it is not in the message: it can't be allowed unseen. */
  partial: boolean;
}

/** edits are a call's: those that it announces, or those in its content. */
export function edits(call: ahp.ToolCall): Edit[] {
  const items: any[] = (call.edits as any)?.items ?? [];
  const all = items.length ? items : (call.content ?? []).filter((c) => c.type === "fileEdit");
  return all.map(editOf);
}

function editOf({ before, after, diff }: any): Edit {
  let path = after?.uri || before?.uri || "";
  try {
    path = decodeURIComponent(new URL(path).pathname) || path;
  } catch {
    // as it is
  }
  if (typeof diff === "string" && diff.includes("@@")) return { path, lines: diff.split("\n"), partial: false };
  const old = dataText(before?.content?.uri);
  const fresh = dataText(after?.content?.uri);
  if ((before && old === undefined) || (after && fresh === undefined)) return { path, lines: ["what changes in it is not in the message"], partial: true };
  const cut = (side: any, text?: string) => (side?.content?.sizeHint ?? 0) > new TextEncoder().encode(text ?? "").length;
  return { path, lines: differing(old ?? "", fresh ?? ""), partial: cut(before, old) || cut(after, fresh) };
}

function dataText(uri?: string): string | undefined {
  const m = /^data:([^,]*),(.*)$/s.exec(uri ?? "");
  if (!m) return undefined;
  try {
    if (!m[1].endsWith(";base64")) return decodeURIComponent(m[2]);
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(m[2]), (c) => c.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** differing are the lines from the first that differs to the last, with three around. */
function differing(old: string, fresh: string): string[] {
  const a = old === "" ? [] : old.split("\n");
  const b = fresh === "" ? [] : fresh.split("\n");
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let to = 0;
  while (to < a.length - from && to < b.length - from && a[a.length - 1 - to] === b[b.length - 1 - to]) to++;
  return [
    ...a.slice(Math.max(0, from - 3), from).map((l) => " " + l),
    ...a.slice(from, a.length - to).map((l) => "-" + l),
    ...b.slice(from, b.length - to).map((l) => "+" + l),
    ...a.slice(a.length - to, a.length - to + 3).map((l) => " " + l),
  ];
}

/** inputText is the whole of what a tool is called with, undefined where it is not there: a
 * command as such, other members by their names. */
export function inputText(call: ahp.ToolCall): string | undefined {
  const i = call.toolInput;
  if (i === undefined || i === null) return "";
  if (typeof i !== "string") return undefined; // a reference to it
  let v: any;
  try {
    v = JSON.parse(i);
  } catch {
    return i;
  }
  // Of members that occur twice one would be lost: the agent may use the other.
  if (JSON.stringify(v) !== compact(i)) return i + "\n\n" + JSON.stringify(v, null, 2);
  if (typeof v !== "object" || v === null || Array.isArray(v)) return i;
  const { command, ...rest } = v;
  const parts = Object.entries(typeof command === "string" ? rest : v).map(([k, e]) => `${k}: ${typeof e === "string" ? e : JSON.stringify(e)}`);
  return (typeof command === "string" ? [command, ...parts] : parts).join("\n");
}

/** compact is a JSON text without blanks, and without escapes that need not be. */
function compact(text: string): string {
  return text
    .replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string) => string ?? "")
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (all, hex, c) => (hex ? JSON.stringify(String.fromCharCode(parseInt(hex, 16))).slice(1, -1) : c === "/" ? "/" : all));
}
