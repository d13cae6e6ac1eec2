// What makes and ends terminals and chats, and commands of layouts. These the page's own host
// runs; a terminal of another host is made there by the page, and put into the layout by it.
import type { Desk } from "./commands";
import { at, hostOf, root } from "./names";
import { layoutURI, type Store } from "./store";
import { commandOf, nameOf } from "./terminal";

/** Commands that make a terminal. */
const makes = new Set(["new-tab", "split-right", "split-down", "split-left", "split-up", "new-floating", "new-stacked"]);
const ends = new Set(["close-pane", "close-tab"]);

/** change runs a command on the pane with the focus, which goes where something was made. */
export async function change(s: Store, desk: Desk, command: string, args: string[]) {
  const shows = desk.panes.find((p) => p.pane === desk.pane)?.terminal ?? "";
  if (makes.has(command) && hostOf(shows)) return changeOn(s, desk, hostOf(shows), command, args, shows);
  if (ends.has(command)) {
    const all = (command === "close-tab" ? desk.panes.map((p) => p.terminal ?? "") : [shows]).filter((uri) => hostOf(uri) && s.terminal(uri));
    if (all.length) return end(s, all, () => order(s, desk, command, args));
  }
  return order(s, desk, command, args);
}

/** changeOn is change for a command that makes a terminal, on the host of a name, "" for the
 * page's own; beside is the terminal in whose directory it starts. */
export async function changeOn(s: Store, desk: Desk, host: string, command: string, args: string[], beside?: string) {
  const words = args.length === 1 && /[ \t|&;<>()$`\\"'*?#~]/.test(args[0]) ? ["/bin/sh", "-c", args[0]] : args;
  const terminal = await newTerminal(s, 80, 24, host, { "tandemux/command": words, ...(beside && { "tandemux/cwdOf": beside }) });
  if (!terminal) return;
  if (!(await order(s, desk, command, [], { terminal }))) void s.call("disposeTerminal", { channel: terminal });
}

async function order(s: Store, desk: Desk, name: string, args: string[], more: object = {}) {
  const had = new Set(desk.tabs);
  const r = await command(s, desk.name, name, args, { ...(desk.pane && { pane: desk.pane }), ...more });
  if (r?.tab && !had.has(r.tab)) desk.show(r.tab);
  if (r?.made && r.pane) desk.focus(r.pane);
  return r;
}

/** end ends terminals of other hosts, which the page's own can't, and goes on; of one that is
 * away the pane alone goes. */
function end(s: Store, all: string[], then: () => void) {
  const busy = all.filter((uri) => {
    const t = s.terminal(uri)!;
    const c = commandOf(t);
    return t.lifecycle.status !== "exited" && !s.hosts.away(uri) && (!c || c.running);
  });
  const go = () => {
    for (const uri of all) {
      const away = s.hosts.away(uri);
      if (away) s.say(away + ": its terminal runs on");
      else void s.call("disposeTerminal", { channel: uri });
    }
    then();
  };
  if (busy.length) s.ask({ text: `End ${busy.map((uri) => nameOf(s.terminal(uri))).join(", ")}?`, yes: "End", do: go });
  else go();
}

/** command runs one of the palette on a layout. */
export async function command(s: Store, layout: string, name: string, args: string[] = [], more: object = {}): Promise<any> {
  try {
    return await s.conn.call("x-tandemux/do", { channel: layoutURI(layout), command: name, args, ...more });
  } catch (e: any) {
    const asks = / asks: (.*) Say --yes/s.exec(e.message);
    if (!("yes" in more) && asks) s.ask({ text: asks[1], yes: "Yes", do: () => void command(s, layout, name, args, { ...more, yes: true }) });
    else s.say(e.message, "warning");
  }
}

/** layouts that show a terminal, and the first. */
export function layouts(s: Store): string[] {
  const all = new Set(["main"]);
  for (const t of s.terminals) for (const uri of ((t._meta as any)?.["tandemux/layouts"] ?? []) as string[]) if (uri.startsWith(layoutURI(""))) all.add(uri.slice(layoutURI("").length));
  return [...all].sort();
}

/** newChat begins a session with an agent in the home directory of a host, and gives its chat. */
export async function newChat(s: Store, provider: string, host = ""): Promise<string | undefined> {
  const chat = at(host, "ahp-chat:/" + crypto.randomUUID());
  const dir = s.at(at(host, root))?.directory;
  const r = await s.call("createSession", {
    channel: at(host, "ahp-session:/" + crypto.randomUUID()),
    provider,
    workingDirectories: dir ? [dir] : [],
    _meta: { "tandemux/chat": chat },
  });
  return r === undefined ? undefined : chat;
}

export async function newTerminal(s: Store, cols: number, rows: number, host = "", meta?: object): Promise<string | undefined> {
  const channel = at(host, "ahp-terminal:/" + crypto.randomUUID());
  const r = await s.call("createTerminal", { channel, claim: { kind: "client", clientId: s.at(channel)?.clientId }, cols, rows, ...(meta && { _meta: meta }) });
  return r === undefined ? undefined : channel;
}
