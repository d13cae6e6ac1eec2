// What the page knows of the host: the states of channels, and what follows from them. The
// views read it and are told when it changes.
import type * as ahp from "./types";
import { reduceAnnotations } from "./annotations";
import { Api } from "./api";
import { type Desk, run } from "./commands";
import type { CopyMode } from "./copymode";
import type { Part, Screen } from "./engine";
import type { Binding, Chords } from "./keys";
import type { Around, Interface, Open, Question, Say } from "./page";
import * as settings from "./settings";
import { begin, learn } from "./setup";
import { first } from "./theme";
import { needsInput, reduceActivity, reduceChat, reduceLayout, reduceRoot, reduceSession, reduceTerminal } from "./reduce";
import { Connection, type Envelope, type Listener, root, RpcError, type Sent, type Snapshot } from "./rpc";
import type { Pass } from "./share";
import { shown } from "./text";

export const activityURI = "x-tandemux-activity:/";
export const layoutURI = (name: string) => "x-tandemux-layout:/" + name;

/** Who holds a terminal: this page, this browser elsewhere, an agent at work, one that left
 * it running, somebody else. */
export type Holder = "me" | "mine" | "agent" | "background" | "other";

const schemes: [string, (s: any, a: any) => any][] = [
  ["ahp-session:", reduceSession],
  ["ahp-chat:", reduceChat],
  ["x-tandemux-layout:", reduceLayout],
  ["x-tandemux-activity:", reduceActivity],
];

// A terminal that brings this much while the screen has not taken in as much floods.
const floodBytes = 128 << 10;
/** How long a flood may pause. */
const calmMs = 800;
const glimpseMs = 100;
const maxInput = 64 << 10;

/** A terminal that shows somewhere on the page. */
class Feed {
  screens = new Set<Screen>();
  waiting = 0; // characters that the screens have not taken in
  flood = 0; // those of them that came as output
  skims = false;
  rests = 0; // the timer until the next screen of a flood shows, 0 for none
  next?: ahp.TerminalState; // that screen
  first = true; // nothing was shown yet: the screen comes before the history
  settles = 0; // the timer until its history is asked for, 0 for none
  asked = 0; // the number of our claim that has no answer yet
  count = 0; // of views
}

export class Store implements Listener {
  readonly states = new Map<string, any>();
  readonly feeds = new Map<string, Feed>();
  sessions: ahp.SessionSummary[] = [];
  line: "online" | "lost" | "out" | "new" = "new";
  said?: Say;
  question?: Question;
  /** What the palette begins with, undefined where it is closed. */
  listing?: string;
  /** What can follow the keys that were pressed. */
  hint?: Binding[];
  finding?: { uri: string; back: boolean; text: string };
  /** What was looked for last. */
  found?: { text: string; back: boolean };
  copying?: { uri: string; mode: CopyMode };
  setup?: Interface;
  chords?: Chords;
  colors = first;
  settings = settings.load();
  ui?: Around;
  desk?: Desk;
  /** The terminal that has the focus. */
  active?: string;
  /** What showed before what shows now. */
  lastShown?: Open;
  lastPane?: string;
  lastTab?: string;
  readonly conn: Connection;
  readonly api: Api;
  private watchers = new Set<() => void>();
  private scheduled = false;
  private sayTimer = 0;
  private pendingSends = new Map<number, (refused?: string) => void>();

  /** The page is a guest's, who sees one terminal. */
  readonly guest: boolean;

  constructor(readonly pass: Pass) {
    this.guest = pass.guest;
    this.conn = new Connection(pass.key, this);
    this.api = new Api(pass.key);
    for (const uri of this.guest ? [root] : [root, activityURI, layoutURI("main")]) void this.conn.subscribe(uri);
    begin(this);
  }

  /** screen of a terminal that shows. */
  screen(uri: string): Screen | undefined {
    return this.feeds.get(uri)?.screens.values().next().value;
  }

  /** refocus gives the keys back to the terminal that had them. */
  refocus() {
    const s = this.screen(this.active ?? "");
    if (s) setTimeout(() => this.question || this.listing !== undefined || s.focus());
  }

  copy(text: string, done = "copied") {
    if (!text) return this.say("nothing is selected", "warning");
    navigator.clipboard.writeText(text).then(
      () => this.say(done),
      () => this.say("the browser does not let this page copy", "warning"),
    );
  }

  endCopying() {
    if (this.copying) this.screen(this.copying.uri)?.endCopyMode();
    this.copying = undefined;
    this.tell();
  }

  watch(f: () => void): () => void {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  }

  /** tell has the views drawn anew, once a frame. */
  tell() {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const f of this.watchers) f();
    });
  }

  say(text: string, kind: Say["kind"] = "info") {
    this.said = { text: shown(text), kind };
    clearTimeout(this.sayTimer);
    this.sayTimer = window.setTimeout(() => {
      this.said = undefined;
      this.tell();
    }, 6000);
    this.tell();
  }

  ask(q: Question) {
    this.question = q;
    this.tell();
  }

  // What the connection tells.

  changed(state: "online" | "lost" | "out") {
    this.line = state;
    this.tell();
    if (state === "online" && !this.guest) setTimeout(() => this.rest()); // behind what the screens ask for
  }

  /** rest asks for what is not needed for the first screen. */
  private rest() {
    void learn(this);
    this.conn.call("listSessions", { channel: root }).then(
      (r) => {
        this.sessions = r.items ?? [];
        this.watchSessions();
        this.tell();
      },
      () => {},
    );
  }

  snapshot(s: Snapshot) {
    let state = s.state;
    const feed = this.feeds.get(s.resource);
    if (feed) {
      feed.skims = false;
      clearTimeout(feed.settles);
      feed.settles = 0;
      this.show(feed, state);
      if (feed.first) this.settle(s.resource, feed, 300);
      feed.first = false;
      state = { ...state, content: [] }; // the screens have it
    }
    this.states.set(s.resource, state);
    this.tell();
  }

  private show(feed: Feed, state: ahp.TerminalState) {
    const parts: Part[] = (state.content as any[]).map((p) =>
      p.type === "command"
        ? { text: p.output ?? "", command: { id: p.commandId, line: p.commandLine, done: !!p.isComplete, exit: p.exitCode, ms: p.durationMs } }
        : { text: p.value ?? "" },
    );
    const length = parts.reduce((n, p) => n + p.text.length, 0);
    for (const screen of feed.screens) {
      if (state.cols && state.rows) screen.resize(state.cols, state.rows);
      feed.waiting += length;
      screen.show(parts, () => (feed.waiting -= length));
    }
  }

  action(e: Envelope) {
    const mine = e.origin?.clientId === this.conn.clientId;
    if (mine) {
      const done = this.pendingSends.get(e.origin!.clientSeq);
      this.pendingSends.delete(e.origin!.clientSeq);
      done?.(e.rejectionReason);
    }
    const feed = this.feeds.get(e.channel);
    if (feed && mine && feed.asked === e.origin!.clientSeq) feed.asked = 0;
    if (e.rejectionReason) {
      if (mine && e.action.type !== "x-tandemux/terminalSeen") this.say(e.rejectionReason, "warning");
      return;
    }
    const a = e.action;
    if (feed && a.type === "terminal/data") {
      for (const screen of feed.screens) {
        const n = a.data.length;
        feed.waiting += n;
        feed.flood += n;
        screen.write(a.data, () => {
          feed.waiting -= n;
          feed.flood -= n;
        });
      }
      if (feed.flood > floodBytes && !feed.skims) {
        feed.skims = true;
        this.conn.call("x-tandemux/skim", { channel: e.channel, _meta: { "tandemux/calmMs": calmMs } }).catch(() => {}); // a host without it goes on
      }
      return;
    }
    if (feed && a.type === "terminal/commandExecuted") for (const s of feed.screens) s.began({ id: a.commandId, line: a.commandLine, done: false });
    if (feed && a.type === "terminal/commandFinished") for (const s of feed.screens) s.ended(a.commandId, a.exitCode, a.durationMs);
    const state = this.states.get(e.channel);
    if (state === undefined) return;
    const reduce = e.channel === root ? reduceRoot : e.channel.endsWith("/annotations") ? reduceAnnotations : (schemes.find(([s]) => e.channel.startsWith(s))?.[1] ?? reduceTerminal);
    const next = reduce(state, a);
    if (next === state) return;
    this.states.set(e.channel, next);
    if (feed && a.type === "terminal/resized") for (const s of feed.screens) s.resize(a.cols, a.rows);
    if (feed && a.type === "terminal/cleared") for (const s of feed.screens) s.reset();
    this.tell();
  }

  notification(method: string, p: any) {
    if (method === "x-tandemux/skimmed") {
      const feed = this.feeds.get(p.resource);
      if (!feed?.skims) return;
      this.glimpse(feed, p.state, p.last);
      if (p.last) {
        feed.skims = false;
        this.settle(p.resource, feed, 0);
      }
      return;
    }
    const summary = p.summary ?? {};
    const uri = p.session ?? summary.resource;
    if (method === "root/sessionAdded") this.sessions = [...this.sessions.filter((s) => s.resource !== uri), summary];
    else if (method === "root/sessionRemoved") this.sessions = this.sessions.filter((s) => s.resource !== uri);
    else if (method === "root/sessionSummaryChanged")
      this.sessions = this.sessions.map((s) => (s.resource === uri ? { ...s, ...(p.changes ?? p.summary) } : s));
    else return;
    this.watchSessions();
    this.tell();
  }

  /** request is a command of the palette that somebody else has this page do. */
  request(method: string, p: any) {
    if (method !== "x-tandemux/order") return undefined;
    const d = this.desk;
    if (!d || p.channel !== layoutURI(d.name)) throw new Error("this page does not show that layout now");
    if (this.question) throw new Error("this page asks its person something: " + this.question.text);
    const to = d.panes.find((o) => o.pane === p.pane || (p.pane && o.terminal === p.pane));
    if (p.pane && !to) throw new Error("there is no pane " + p.pane + " in the tab that this page shows");
    if (to) {
      d.focus(to.pane);
      d.pane = to.pane;
      this.active = to.terminal;
    }
    this.said = undefined;
    run(this, p.command, p.args);
    const said = this.said as Say | undefined;
    return { made: false, ...(to && { pane: to.pane }), ...(said && { said: said.text }) };
  }

  /** glimpse shows screens of a flood, a few in a second: drawing takes from what prints. */
  private glimpse(feed: Feed, state: ahp.TerminalState | undefined, last = false) {
    if (last) {
      clearTimeout(feed.rests);
      feed.rests = 0;
    }
    if (feed.rests) {
      feed.next = state;
      return;
    }
    feed.next = undefined;
    if (!state || !feed.skims) return;
    this.show(feed, state);
    if (!last)
      feed.rests = window.setTimeout(() => {
        feed.rests = 0;
        this.glimpse(feed, feed.next);
      }, glimpseMs);
  }

  /** settle asks for all of a terminal of which the screen alone was shown. */
  private settle(uri: string, feed: Feed, after: number) {
    clearTimeout(feed.settles);
    feed.settles = window.setTimeout(() => {
      feed.settles = 0;
      if (this.feeds.get(uri) === feed && !feed.skims) void this.conn.subscribe(uri).catch(() => {});
    }, after);
  }

  missing(uri: string) {
    this.states.delete(uri);
    this.tell();
  }

  doubtful(actions: Sent[]) {
    const typed = actions.filter((a) => a.action.type === "terminal/input").length;
    for (const s of actions) {
      this.pendingSends.get(s.clientSeq)?.("the host was started anew meanwhile");
      this.pendingSends.delete(s.clientSeq);
    }
    for (const f of this.feeds.values()) f.asked = 0;
    if (typed) this.say("the host was started anew: whether what was typed last has arrived is not known", "warning");
  }

  // Channels that are shown.

  /** state of a channel, which has been subscribed to or is about to be. */
  get<T>(uri: string): T | undefined {
    return this.states.get(uri);
  }

  /** follow subscribes to a channel for as long as a view shows it. */
  follow(uri: string): () => void {
    const n = (this.following.get(uri) ?? 0) + 1;
    this.following.set(uri, n);
    if (n === 1)
      this.conn.subscribe(uri, this.feeds.has(uri)).catch((e) => {
        this.states.delete(uri);
        this.say(String(e.message), "warning");
      });
    return () => {
      const left = this.following.get(uri)! - 1;
      this.following.set(uri, left);
      if (left) return;
      this.following.delete(uri);
      this.conn.unsubscribe(uri);
      this.states.delete(uri);
    };
  }
  private following = new Map<string, number>();

  /** attach shows a terminal on a screen. */
  attach(uri: string, screen: Screen): () => void {
    let feed = this.feeds.get(uri);
    if (!feed) this.feeds.set(uri, (feed = new Feed()));
    feed.screens.add(screen);
    if (feed.count++ === 0) this.detachers.set(uri, this.follow(uri));
    else void this.conn.subscribe(uri).catch(() => {}); // gives all that is there, to all
    if (this.line === "online") this.tellColors();
    return () => {
      feed.screens.delete(screen);
      if (--feed.count) return;
      this.feeds.delete(uri);
      this.detachers.get(uri)?.();
      this.detachers.delete(uri);
    };
  }
  private detachers = new Map<string, () => void>();

  tellColors() {
    const { foreground, background, cursor } = this.colors.terminal;
    this.conn.note("x-tandemux/colors", { channel: root, fg: foreground, bg: background, cursor, palette: this.colors.palette });
  }

  /** watchSessions follows the sessions that wait for somebody, whose questions the inbox shows. */
  private watchSessions() {
    const want = new Set(this.sessions.filter((s) => needsInput(s.status)).map((s) => s.resource));
    for (const uri of want) if (!this.waiting.has(uri)) this.waiting.set(uri, this.follow(uri));
    for (const [uri, stop] of this.waiting)
      if (!want.has(uri)) {
        stop();
        this.waiting.delete(uri);
      }
  }
  private waiting = new Map<string, () => void>();

  /** texts are what the screens show, for tests. */
  texts(): string[] {
    return [...this.feeds.values()].flatMap((f) => [...f.screens].map((s) => s.text()));
  }

  // Terminals.

  get terminals(): ahp.TerminalInfo[] {
    return this.get<ahp.RootState>(root)?.terminals ?? [];
  }

  terminal(uri: string): ahp.TerminalInfo | undefined {
    return this.terminals.find((t) => t.resource === uri);
  }

  holder(t: ahp.TerminalInfo): Holder {
    const claim: any = this.get<ahp.TerminalState>(t.resource)?.claim ?? t.claim;
    if (this.feeds.get(t.resource)?.asked) return "me";
    if (claim.kind === "session") return claim.toolCallId || claim.turnId ? "agent" : "background";
    if (claim.clientId === this.conn.clientId) return "me";
    const me = this.conn.meta["tandemux/principal"];
    return me && (t._meta as any)?.["tandemux/principal"] === me ? "mine" : "other";
  }

  /** may reports whether the host lets this browser do what needs a scope. */
  may(scope: string): boolean {
    const scopes: string[] | undefined = this.conn.meta["tandemux/scopes"]; // of an older host unknown
    return !scopes || scopes.includes(scope) || scopes.includes("admin");
  }

  /** send dispatches, and says whether it was taken. */
  send(channel: string, action: Sent["action"]): Promise<void> {
    const seq = this.conn.dispatch(channel, action);
    return new Promise((resolve, reject) =>
      this.pendingSends.set(seq, (refused) => (refused ? reject(new RpcError(1, refused)) : resolve())),
    );
  }

  claim(uri: string) {
    const action = { type: "terminal/claimed", claim: { kind: "client", clientId: this.conn.clientId }, "x-tandemux/seen": this.conn.seq };
    const seq = this.conn.dispatch(uri, action);
    const feed = this.feeds.get(uri);
    if (feed) feed.asked = seq;
    this.tell();
  }

  /** type sends keys to a terminal that is this browser's; the claim follows the keyboard. */
  type(uri: string, data: string): boolean {
    const t = this.terminal(uri);
    const holder = t && this.holder(t);
    if (!t || (holder !== "me" && holder !== "mine") || t.lifecycle.status === "exited") return false;
    if (holder === "mine") this.claim(uri);
    for (let i = 0; i < data.length; ) {
      let end = Math.min(i + maxInput, data.length);
      if (end < data.length && /[\ud800-\udbff]/.test(data[end - 1])) end--; // no half of a character
      this.conn.dispatch(uri, { type: "terminal/input", data: data.slice(i, end) });
      i = end;
    }
    return true;
  }

  /** change runs one on the pane with the focus, which goes where something was made. */
  async change(desk: Desk, command: string, args: string[]) {
    const had = new Set(desk.tabs);
    const r = await this.command(desk.name, command, args, desk.pane ? { pane: desk.pane } : {});
    if (r?.tab && !had.has(r.tab)) desk.show(r.tab);
    if (r?.made && r.pane) desk.focus(r.pane);
  }

  /** call asks the host; what is wrong is said, and gives nothing. */
  async call(method: string, params: object): Promise<any> {
    return this.conn.call(method, params).catch((e) => void this.say(e.message, "warning"));
  }

  /** layouts that show a terminal, and the first. */
  layouts(): string[] {
    const all = new Set(["main"]);
    for (const t of this.terminals) for (const uri of ((t._meta as any)?.["tandemux/layouts"] ?? []) as string[]) all.add(uri.replace(/^x-tandemux-layout:\//, ""));
    return [...all].sort();
  }

  /** command runs one of the palette on a layout. */
  async command(layout: string, command: string, args: string[] = [], more: object = {}): Promise<any> {
    try {
      return await this.conn.call("x-tandemux/do", { channel: layoutURI(layout), command, args, ...more });
    } catch (e: any) {
      const asks = / asks: (.*) Say --yes/s.exec(e.message);
      if (!("yes" in more) && asks) this.ask({ text: asks[1], yes: "Yes", do: () => void this.command(layout, command, args, { ...more, yes: true }) });
      else this.say(e.message, "warning");
    }
  }

  /** newChat begins a session with an agent in the home directory, and gives its chat. */
  async newChat(provider: string): Promise<string | undefined> {
    const chat = "ahp-chat:/" + crypto.randomUUID();
    try {
      await this.conn.call("createSession", {
        channel: "ahp-session:/" + crypto.randomUUID(),
        provider,
        workingDirectories: this.conn.directory ? [this.conn.directory] : [],
        _meta: { "tandemux/chat": chat },
      });
      return chat;
    } catch (e: any) {
      this.say(e.message, "warning");
    }
  }

  async newTerminal(cols: number, rows: number): Promise<string | undefined> {
    const channel = "ahp-terminal:/" + crypto.randomUUID();
    try {
      await this.conn.call("createTerminal", { channel, claim: { kind: "client", clientId: this.conn.clientId }, cols, rows });
      return channel;
    } catch (e: any) {
      this.say(e.message, "warning");
    }
  }
}
