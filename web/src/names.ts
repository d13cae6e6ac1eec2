// Names of what other hosts have, as package ahp/hosted gives them: "scheme:/path" of the
// host HOST is "scheme://HOST/path" here. They are put in and taken out at the connection, so
// that all behind it has one kind of address. Strings are told apart by the names of their
// members: what programs print and people type is never touched.

export const root = "ahp-root://";

const scheme = /^[a-z][a-z0-9+.-]{1,63}$/;

/** Schemes of addresses that mean the same on all hosts, or no resource. */
const general = new Set(["ahp-root", "file", "http", "https", "ws", "wss", "ssh", "git", "unix"]);

const ours = (s: string) => scheme.test(s) && !general.has(s);

/** split gives the host that a resource is of, "" for the page's own, and its address there. */
export function split(uri: string): [host: string, there: string] {
  if (uri.startsWith(root) && uri !== root) return [uri.slice(root.length), root];
  const m = /^([^:]*):\/\/([^/]+)\/(.*)$/s.exec(uri);
  return m && ours(m[1]) ? [m[2], m[1] + ":/" + m[3]] : ["", uri];
}

export const hostOf = (uri: string) => split(uri)[0];

/** at is the address here of a host's resource. */
export function at(host: string, there: string): string {
  if (!host) return there;
  if (there === root) return root + host;
  const i = there.indexOf(":/");
  return i > 0 && ours(there.slice(0, i)) ? `${there.slice(0, i)}://${host}/${there.slice(i + 2)}` : there;
}

/** prefixed is a name of a host's as lists show it. */
export const prefixed = (host: string, name: string) => (host ? host + ":" + name : name);

/** path is where the path of a resource begins in an address; -1 in other texts. */
function path(text: string): number {
  const i = text.slice(0, 65).indexOf(":");
  return i > 0 && text[i + 1] === "/" && /^[!#-[\]-~]*$/.test(text) && ours(text.slice(0, i)) ? i + 1 : -1;
}

const verbatim = new Set(
  ("data value text title name command args argv commandLine line before after pattern words " +
    "message description reason label cwd prompt input output content activity preview summary query screen").split(" "),
);

/** walk gives a value with its strings changed that may be addresses. */
function walk(v: any, change: (s: string) => string, text = false): any {
  if (typeof v === "string") return text ? v : change(v);
  if (Array.isArray(v)) return v.map((e) => walk(e, change, text));
  if (v === null || typeof v !== "object") return v;
  const r: Record<string, any> = {};
  for (const k of Object.keys(v)) if (k !== "__proto__") r[change(k)] = k === "env" && typeof v[k] === "object" ? v[k] : walk(v[k], change, verbatim.has(k));
  return r;
}

/** inward is a message of a host's, said in our words; also its root, if roots says so. */
export function inward(host: string, v: any, roots = true): any {
  if (!host) return v;
  return walk(v, (s) => {
    if (s === root && roots) return root + host;
    const i = path(s);
    return i < 0 ? s : s.slice(0, i) + "//" + host + s.slice(i);
  });
}

/** outward is a message to it, said in its words. */
export function outward(host: string, v: any): any {
  if (!host) return v;
  const here = "//" + host + "/";
  return walk(v, (s) => {
    if (s === root + host) return root;
    const i = path(s);
    return i >= 0 && s.startsWith(here, i) ? s.slice(0, i) + s.slice(i + here.length - 1) : s;
  });
}
