// Texts of programs and agents, made fit to be shown.

const names: Record<string, string> = { "\n": "\n", "\t": "\t" };

/** shown is a text in which what would not be seen, or would be seen elsewhere, is named:
 * control characters, and those that turn the direction of what follows. */
export function shown(s: string): string {
  return s.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu,
    (c) => names[c] ?? (c === "\u200d" || c === "\ufe0f" ? c : `‹${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`),
  );
}

/** line is shown, on one line. */
export const line = (s: string) => shown(s.replace(/[\n\t]+/g, " "));

/** prose is a text that AHP has plain or as Markdown; it is shown as it was written. */
export const prose = (p: unknown): string => shown(typeof p === "string" ? p : ((p as any)?.markdown ?? ""));

export function ago(ms: number, now = Date.now()): string {
  const s = Math.max(0, Math.round((now - ms) / 1000));
  if (s < 60) return "now";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

export function took(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** safe is an address that may be opened: a web page's, whole, without what hides in it. */
export function safe(address: string): string | undefined {
  try {
    const u = new URL(address);
    return (u.protocol === "https:" || u.protocol === "http:") && !u.username && !u.password ? u.href : undefined;
  } catch {
    return undefined;
  }
}
