// Commands of the palette, by the names that they have in the terminal interface. Some the
// page does itself; those about panes and tabs the host does, as for `tandemux do`.
import type * as ahp from "./types";
import { CopyMode } from "./copymode";
import { bytes } from "./keys";
import type { Command } from "./marks";
import { change, changeOn, layouts, newChat } from "./make";
import { hostOf, prefixed } from "./names";
import { learn, set } from "./setup";
import type { Store } from "./store";
import { handBack, running, sendBack, take } from "./terminal";

/** What x-tandemux/interface tells of a command. */
export interface Known {
  name: string;
  title: string;
  group: string;
  help: string;
  args?: string[];
  do?: boolean;
}

/** The layout that shows: its tab and pane are this page's own. */
export interface Desk {
  name: string;
  tabs: string[];
  tab?: string;
  pane?: string;
  /** In the order of the tree, floats last. */
  panes: { pane: string; terminal?: string }[];
  focus(pane: string): void;
  show(tab: string): void;
}

type Do = (s: Store, args: string[]) => void;

/** beside is the pane on a side of another. */
function beside(from: string, dx: number, dy: number): string | undefined {
  const at = (e: Element) => e.getBoundingClientRect();
  const all = [...document.querySelectorAll<HTMLElement>(".leaf[data-pane]")];
  const me = all.find((e) => e.dataset.pane === from);
  if (!me) return undefined;
  const a = at(me);
  let best: string | undefined;
  let least = Infinity;
  for (const e of all) {
    const b = at(e);
    const ahead = dx ? (dx > 0 ? b.left - a.right : a.left - b.right) : dy > 0 ? b.top - a.bottom : a.top - b.bottom;
    const across = dx ? Math.max(a.top, b.top) - Math.min(a.bottom, b.bottom) : Math.max(a.left, b.left) - Math.min(a.right, b.right);
    if (e === me || ahead < -8 || across > 0) continue;
    const far = ahead * 1000 + across;
    if (far < least) [least, best] = [far, e.dataset.pane];
  }
  return best;
}

const focus = (dx: number, dy: number): Do => (s) => {
  const d = s.desk;
  const to = d?.pane && beside(d.pane, dx, dy);
  if (to) d!.focus(to);
};

const around = (all: string[], at: string | undefined, by: number) => all[(all.indexOf(at ?? "") + by + all.length) % all.length];

const tab = (by: number): Do => (s) => {
  const d = s.desk;
  if (d?.tabs.length) d.show(around(d.tabs, d.tab, by));
};

const place = (name: string): Do => (s) => s.ui?.place(name);

const active = (s: Store): ahp.TerminalInfo | undefined => s.terminal(s.active ?? "");
const screen = (s: Store) => s.screen(s.active ?? "");

/** here has something done with the active terminal. */
const here = (f: (s: Store, t: ahp.TerminalInfo) => void): Do => (s) => {
  const t = active(s);
  if (t) f(s, t);
  else s.say("no terminal has the focus", "warning");
};

const lines = (by: number): Do => (s, [n]) => screen(s)?.scroll(by * Number(n ?? 1));
const pages = (by: number): Do => (s) => screen(s)?.scroll(Math.trunc(by * (s.get<ahp.TerminalState>(s.active ?? "")?.rows ?? 24)));

const jump = (back: boolean): Do => (s) => {
  const c = screen(s)?.marks.go(back);
  if (!c) s.say(back ? "there is no earlier command" : "there is no later command");
};

/** onCommand has something done with the command that was gone to, else the last. */
const onCommand = (f: (s: Store, uri: string, c: Command) => void): Do => (s) => {
  const c = screen(s)?.marks.acted();
  if (c) f(s, s.active!, c);
  else s.say("no command ran here that is known", "warning");
};

export async function copyOutput(s: Store, uri: string, id: string) {
  const r = await s.call("x-tandemux/command", { channel: uri, id });
  if (r) s.copy(r.output + (r.omitted ? `\n… ${r.omitted} bytes are not kept …\n` : "") + (r.tail ?? ""), r.omitted ? "copied, but for what is not kept" : "copied");
}

export function runAgain(s: Store, uri: string, line: string) {
  const t = s.terminal(uri);
  if (!t || running(t)) return s.say("something runs there", "warning");
  if (/[\r\n]/.test(line)) return s.say("it has several lines: copy it", "warning");
  if (!s.type(uri, line + "\r")) s.say("take the terminal first", "warning");
}

const find = (back: boolean): Do => (s) => {
  if (s.active) s.finding = { uri: s.active, back, text: s.finding?.text ?? "" };
  s.tell();
};

const again = (other: boolean): Do => (s) => {
  const f = s.found;
  const at = f && screen(s)?.find(f.text, f.back !== other);
  if (!at) s.say("not found");
  else s.copying?.mode.found(at);
};

/** own is how the page's own host is called. */
const own = "local";

/** agentOf parts HOST:AGENT. */
const agentOf = (s: Store, text: string): [provider: string, host: string] => {
  const [host, ...rest] = text.split(":");
  return rest.length && s.hosts.all.has(host) ? [rest.join(":"), host] : [text, ""];
};

const local: Record<string, Do> = {
  "focus-left": focus(-1, 0),
  "focus-right": focus(1, 0),
  "focus-up": focus(0, -1),
  "focus-down": focus(0, 1),
  "focus-next": (s) => s.desk?.panes.length && s.desk.focus(around(s.desk.panes.map((p) => p.pane), s.desk.pane, 1)),
  "focus-last": (s) => s.lastPane && s.desk?.focus(s.lastPane),
  "focus-pane": (s, [n]) => s.desk?.panes[Number(n) - 1] && s.desk.focus(s.desk.panes[Number(n) - 1].pane),
  "next-tab": tab(1),
  "previous-tab": tab(-1),
  "last-tab": (s) => s.lastTab && s.desk?.show(s.lastTab),
  "go-tab": (s, [n]) => s.desk?.tabs[Number(n) - 1] && s.desk.show(s.desk.tabs[Number(n) - 1]),
  "search-all": (s, words) => s.ui?.open({ kind: "search", what: "search-all", text: words.join(" ") }),
  history: (s, words) => s.ui?.open({ kind: "search", what: "history", text: words.join(" ") }),
  layouts: (s, [name]) => (name ? s.ui?.layout(name) : s.ui?.palette("layouts ")),
  "new-on": (s, [name]) => {
    const host = name === own ? "" : name;
    if (!name) s.ui?.palette("new-on ");
    else if (!s.desk) s.say("open a layout first", "warning");
    else void changeOn(s, s.desk, host, "new-tab", []);
  },
  palette: (s) => s.ui?.palette(""),
  help: (s) => s.ui?.palette(""),
  terminals: place("terminals"),
  agents: place("chats"),
  review: place("tasks"),
  "next-alert": place("inbox"),
  "answer-agent": place("inbox"),
  reclaim: here(take),
  background: here(sendBack),
  "hand-back": here(handBack),
  "new-session": (s, [agent]) => (agent ? void newChat(s, ...agentOf(s, agent)).then((uri) => uri && s.ui?.open({ kind: "chat", uri })) : s.ui?.place("chats")),
  "open-chat": here((s, t) => {
    const chat = (t.claim as any).chat;
    if (chat) s.ui?.open({ kind: "chat", uri: chat });
    else s.say("no chat holds it");
  }),
  "send-prefix": (s) => {
    const b = bytes(s.setup?.prefix ?? "");
    if (s.active && b !== undefined) s.type(s.active, b);
  },
  "copy-mode": (s) => {
    const mode = screen(s)?.copyMode();
    if (mode) s.copying = { uri: s.active!, mode };
    s.tell();
  },
  search: find(false),
  "search-back": find(true),
  "search-next": again(false),
  "search-previous": again(true),
  "scroll-up": lines(-1),
  "scroll-down": lines(1),
  "scroll-half-up": pages(-0.5),
  "scroll-half-down": pages(0.5),
  "scroll-page-up": pages(-1),
  "scroll-page-down": pages(1),
  "scroll-top": (s) => screen(s)?.scroll(-1e6),
  "scroll-bottom": (s) => screen(s)?.scroll(1e6),
  "previous-command": jump(true),
  "next-command": jump(false),
  commands: (s) => s.active && s.ui?.read(s.active),
  "fold-output": (s) => s.active && s.ui?.read(s.active),
  "fold-all": (s) => s.active && s.ui?.read(s.active),
  "copy-output": onCommand((s, uri, c) => void copyOutput(s, uri, c.id)),
  "copy-command-line": onCommand((s, _, c) => s.copy(c.line)),
  "select-output": onCommand((s, _, c) => screen(s)?.selectCommand(c)),
  "run-again": onCommand((s, uri, c) => runAgain(s, uri, c.line)),
  "copy-selection": (s) => s.copy(screen(s)?.selection() ?? ""),
  "paste-buffer": (s) => void navigator.clipboard.readText().then((t) => screen(s)?.paste(t), () => s.say("the browser does not let this page read the clipboard", "warning")),
  "choose-theme": (s, [name]) => {
    if (name === "dark" || name === "light" || name === "auto") set(s, { scheme: name });
    else s.ui?.palette("choose-theme ");
  },
  "reload-config": (s) => void learn(s),
};

/** What can follow a name in the palette, where the page knows it. */
export const choices: Record<string, (s: Store) => string[]> = {
  layouts,
  "new-on": (s) => s.hosts.roots.map((r) => hostOf(r) || own),
  "choose-theme": () => ["auto", "dark", "light"],
  "new-session": (s) => s.hosts.roots.flatMap((r) => (s.get<ahp.RootState>(r)?.agents ?? []).map((a) => prefixed(hostOf(r), a.provider))),
};

/** has reports whether a command can be run from this page. */
export const has = (c: Known) => !!c.do || Object.hasOwn(local, c.name);

/** run runs a command. */
export function run(s: Store, name: string, args: string[] = []): void {
  const i = args.indexOf(";");
  if (i >= 0) {
    run(s, name, args.slice(0, i));
    return run(s, args[i + 1], args.slice(i + 2));
  }
  const copying = s.copying;
  if (copying && CopyMode.does(name)) {
    const did = copying.mode.run(name, args);
    if (did === "copy" || did === "copy and leave") s.copy(copying.mode.text());
    if (did === "leave" || did === "copy and leave") s.endCopying();
    return;
  }
  const known = s.setup?.commands.find((c) => c.name === name);
  const wants = known?.args?.[0];
  if (known && wants && !wants.startsWith("[") && !args.length && !choices[name]) {
    s.ask({ text: known.title, field: wants.toLowerCase(), yes: "Do it", do: (text) => run(s, name, known.args!.length === 1 && wants.endsWith("...") ? text!.split(/\s+/) : [text ?? ""]) });
    return;
  }
  if (Object.hasOwn(local, name)) return local[name](s, args);
  const d = s.desk;
  if (known?.do && d) void change(s, d, name, args);
  else s.say(known ? `"${known.title}" needs ${known.do ? "a layout that shows" : "the terminal interface"}` : `there is no command ${name}`, "warning");
}
