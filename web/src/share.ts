// How this browser is let in: by a link, once, and then by a cookie and a key of the page's.
// A guest's page, which shows one terminal that somebody shared, has a key of its own beside
// that of a browser which was let in itself; its address says whose it is.

import { line } from "./text";
import type * as ahp from "./types";

const keyName = "tandemux-page";

/** guestOf is what the address says of a guest: their token's id, "" with a link that has not
 * been opened yet, undefined where the page is no guest's. */
const guestOf = () => new URLSearchParams(location.search).get("share") ?? undefined;

/** Pass is what lets the page in. */
export interface Pass {
  key: string;
  guest: boolean;
}

/** kept is what let the page in before. */
export function kept(): Pass | undefined {
  const guest = guestOf();
  const key = localStorage.getItem(guest ? keyName + "-" + guest : keyName);
  return key && guest !== "" ? { key, guest: !!guest } : undefined;
}

/** pair exchanges the secret in the link for a cookie and the page's key. */
export async function pair(): Promise<Pass | undefined> {
  const secret = location.hash.slice(1);
  if (!secret) return kept();
  // A link that this browser has opened already leads to where it did: of one that was used
  // the beginning says nothing.
  const used = "tandemux-link-" + secret.slice(0, 8);
  const had = localStorage.getItem(used);
  const show = (id?: string) => history.replaceState(null, "", location.pathname + (id ? "?share=" + id : "")); // the secret is in no history
  if (guestOf() === "" && had) {
    show(had);
    return kept();
  }
  show(guestOf());
  const r = await fetch("/web/pair", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ secret }),
  }).catch(() => undefined);
  if (!r?.ok) {
    const before = kept();
    if (before) return before; // it was paired before
    throw new Error(r ? await r.text() : "The host does not answer.");
  }
  const { key, id, guest } = await r.json();
  if (guest) {
    localStorage.setItem(used, id);
    show(id);
  }
  localStorage.setItem(guest ? keyName + "-" + id : keyName, key);
  return { key, guest: !!guest };
}

/** guests says who looks at a terminal of those that it is shared with, "" where it is not. */
export function guests(t?: ahp.TerminalInfo): string {
  const shares = ((t?._meta as any)?.["tandemux/shares"] ?? []) as ahp.GuestShare[];
  const look = shares.flatMap((s) => (s.clients ?? []).map((c) => line(s.name) + (c ? ` (${line(c)})` : "")));
  return look.length ? look.join(", ") + (look.length === 1 ? " looks" : " look") : shares.length ? "shared" : "";
}

/** browserName is what people call this browser. */
export function browserName(agent = navigator.userAgent): string {
  const first = (names: [RegExp, string][], otherwise: string) => names.find(([is]) => is.test(agent))?.[1] ?? otherwise;
  const browser = first([[/Firefox\//, "Firefox"], [/Edg\//, "Edge"], [/OPR\//, "Opera"], [/Chrom(e|ium)\//, "Chrome"], [/Safari\//, "Safari"]], "a browser");
  const system = first([[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Mac OS X/, "macOS"], [/Windows/, "Windows"], [/Linux/, "Linux"]], "");
  return system ? `${browser} on ${system}` : browser;
}
