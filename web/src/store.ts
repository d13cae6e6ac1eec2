// What the page knows of the host: the states of channels, and what follows from them. The
// views read it and are told when it changes.
import type * as ahp from "./types";
import { reduceAnnotations } from "./annotations";
import { Api } from "./api";
import { type Desk, run } from "./commands";
import { at, hostOf } from "./names";
import { Hosts } from "./hosts";
import { calmMs, Feed, floodBytes, glimpse, settle, show } from "./feed";
import type { CopyMode } from "./copymode";
import type { Screen } from "./engine";
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

const maxInput = 64 << 10;

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
  /** To the page's own host; hosts has those to others. */
  readonly conn: Connection;
  readonly api: Api;
  readonly hosts: Hosts;
  private watchers = new Set<() => void>();
  private scheduled = false;
  private sayTimer = 0;
  private pendingSends = new Map<string, (refused?: string) => void>(); // by client and number

  /** The page is a guest's, who sees one terminal. */
  readonly guest: boolean;

  constructor(readonly pass: Pass) {
    this.guest = pass.guest;
    this.conn = new Connection(pass.key, this);
    this.api = new Api(pass.key);
    this.hosts = new Hosts(this);
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

  changed(state: "online" | "lost" | "out", of: Connection) {
    if (!of.host) this.line = state;
    this.tell();
    if (state === "online" && of.host) {
      this.tellColors(of);
      if (this.said?.text.startsWith("no connection to " + of.host + " ")) this.said = undefined; // it is past
    }
    if (state === "online" && !this.guest) setTimeout(() => this.rest(of)); // behind what the screens ask for
    if (state === "out") this.hosts.take([]);
  }

  /** rest asks for what is not needed for the first screen. */
  private rest(of: Connection) {
    if (!of.host) {
      void learn(this);
      this.hosts.follow();
    }
    of.call("listSessions", { channel: of.root }).then(
      (r) => this.list(of.host, r.items ?? []),
      () => {},
    );
  }

  /** list takes a host's list of sessions. */
  private list(host: string, of: ahp.SessionSummary[]) {
    this.sessions = [...this.sessions.filter((s) => hostOf(s.resource) !== host), ...of.filter((s) => hostOf(s.resource) === host)];
    this.watchSessions();
    this.tell();
  }

  /** at gives the connection that a resource is reached by; none where its host has no name. */
  at(uri: string): Connection | undefined {
    const host = hostOf(uri);
    return host ? this.hosts.all.get(host) : this.conn;
  }

  /** task parts the id of a task, which of another host is HOST:ID. */
  task(id: string): [Api, string] {
    const [host, there] = id.split(":");
    return this.hosts.all.has(host) && there ? [new Api(this.pass.key, host), there] : [this.api, id];
  }

  /** arrived has a new connection follow what shows already. */
  arrived(of: Connection) {
    for (const uri of [of.root, at(of.host, activityURI)]) void of.subscribe(uri).catch(() => {});
    for (const uri of this.following.keys()) if (hostOf(uri) === of.host) this.begin(uri);
    this.tell();
  }

  /** forget drops what was known of a host. */
  forget(host: string) {
    for (const uri of [...this.states.keys()]) if (hostOf(uri) === host) this.states.delete(uri);
    this.list(host, []);
  }

  snapshot(s: Snapshot) {
    let state = s.state;
    const feed = this.feeds.get(s.resource);
    if (feed) {
      feed.skims = false;
      clearTimeout(feed.settles);
      feed.settles = 0;
      show(feed, state);
      if (feed.first) settle(this, s.resource, feed, 300);
      feed.first = false;
      state = { ...state, content: [] }; // the screens have it
    }
    this.states.set(s.resource, state);
    this.tell();
  }

  action(e: Envelope, from: Connection) {
    const mine = e.origin?.clientId === from.clientId;
    if (mine) this.settled(from.clientId, e.origin!.clientSeq, e.rejectionReason);
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
        from.call("x-tandemux/skim", { channel: e.channel, _meta: { "tandemux/calmMs": calmMs } }).catch(() => {}); // a host without it goes on
      }
      return;
    }
    if (feed && a.type === "terminal/commandExecuted") for (const s of feed.screens) s.began({ id: a.commandId, line: a.commandLine, done: false });
    if (feed && a.type === "terminal/commandFinished") for (const s of feed.screens) s.ended(a.commandId, a.exitCode, a.durationMs);
    const state = this.states.get(e.channel);
    if (state === undefined) return;
    const reduce = e.channel.startsWith(root) ? reduceRoot : e.channel.endsWith("/annotations") ? reduceAnnotations : (schemes.find(([s]) => e.channel.startsWith(s))?.[1] ?? reduceTerminal);
    const next = reduce(state, a);
    if (next === state) return;
    this.states.set(e.channel, next);
    if (feed && a.type === "terminal/resized") for (const s of feed.screens) s.resize(a.cols, a.rows);
    if (feed && a.type === "terminal/cleared") for (const s of feed.screens) s.reset();
    this.tell();
  }

  /** settled tells who waits for the host's word on an action. */
  private settled(client: string, seq: number, refused?: string) {
    const done = this.pendingSends.get(client + seq);
    this.pendingSends.delete(client + seq);
    done?.(refused);
  }

  notification(method: string, p: any, from: Connection) {
    if (method === "x-tandemux/skimmed") {
      const feed = this.feeds.get(p.resource);
      if (!feed?.skims || hostOf(p.resource) !== from.host) return;
      glimpse(feed, p.state, p.last);
      if (p.last) {
        feed.skims = false;
        settle(this, p.resource, feed, 0);
      }
      return;
    }
    const summary = p.summary ?? {};
    const uri = p.session ?? summary.resource;
    if (typeof uri !== "string" || hostOf(uri) !== from.host) return;
    if (method === "root/sessionAdded") this.sessions = [...this.sessions.filter((s) => s.resource !== uri), summary];
    else if (method === "root/sessionRemoved") this.sessions = this.sessions.filter((s) => s.resource !== uri);
    else if (method === "root/sessionSummaryChanged")
      this.sessions = this.sessions.map((s) => (s.resource === uri ? { ...s, ...(p.changes ?? p.summary) } : s));
    else return;
    this.watchSessions();
    this.tell();
  }

  /** request is a command of the palette that somebody else has this page do. */
  request(method: string, p: any, from: Connection) {
    if (method !== "x-tandemux/order" || from.host) return undefined;
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

  missing(uri: string) {
    this.states.delete(uri);
    this.tell();
  }

  doubtful(actions: Sent[], host: string) {
    const typed = actions.filter((a) => a.action.type === "terminal/input").length;
    const client = this.at(at(host, root))!.clientId;
    for (const s of actions) this.settled(client, s.clientSeq, "the host was started anew meanwhile");
    for (const [uri, f] of this.feeds) if (hostOf(uri) === host) f.asked = 0;
    if (typed) this.say((host || "the host") + " was started anew: whether what was typed last has arrived is not known", "warning");
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
    if (n === 1) this.begin(uri);
    return () => {
      const left = this.following.get(uri)! - 1;
      this.following.set(uri, left);
      if (left) return;
      this.following.delete(uri);
      this.at(uri)?.unsubscribe(uri);
      this.states.delete(uri);
    };
  }

  private begin(uri: string) {
    this.at(uri)
      ?.subscribe(uri, this.feeds.has(uri))
      .catch((e) => {
        this.states.delete(uri);
        this.say(String(e.message), "warning");
      });
  }
  private following = new Map<string, number>();

  /** attach shows a terminal on a screen. */
  attach(uri: string, screen: Screen): () => void {
    let feed = this.feeds.get(uri);
    if (!feed) this.feeds.set(uri, (feed = new Feed()));
    feed.screens.add(screen);
    if (feed.count++ === 0) this.detachers.set(uri, this.follow(uri));
    else void this.at(uri)?.subscribe(uri).catch(() => {}); // gives all that is there, to all
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

  tellColors(to?: Connection) {
    const { foreground, background, cursor } = this.colors.terminal;
    for (const c of to ? [to] : [this.conn, ...this.hosts.all.values()])
      c.note("x-tandemux/colors", { channel: c.root, fg: foreground, bg: background, cursor, palette: this.colors.palette });
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

  /** terminals are those of all hosts, the page's own first. */
  get terminals(): ahp.TerminalInfo[] {
    const own = this.get<ahp.RootState>(root)?.terminals ?? [];
    return this.hosts.all.size ? [...own, ...[...this.hosts.all.keys()].flatMap((h) => this.terminalsOf(h))] : own;
  }

  private terminalsOf(host: string): ahp.TerminalInfo[] {
    return (this.get<ahp.RootState>(at(host, root))?.terminals ?? []).filter((t) => hostOf(t.resource) === host);
  }

  terminal(uri: string): ahp.TerminalInfo | undefined {
    return this.terminalsOf(hostOf(uri)).find((t) => t.resource === uri);
  }

  /** attention is what of a terminal calls for people. */
  attention(uri: string): ahp.Attention | undefined {
    return this.get<ahp.ActivityState>(at(hostOf(uri), activityURI))?.terminals?.[uri];
  }

  holder(t: ahp.TerminalInfo): Holder {
    const claim: any = this.get<ahp.TerminalState>(t.resource)?.claim ?? t.claim;
    if (this.feeds.get(t.resource)?.asked) return "me";
    if (claim.kind === "session") return claim.toolCallId || claim.turnId ? "agent" : "background";
    const conn = this.at(t.resource);
    if (claim.clientId && claim.clientId === conn?.clientId) return "me";
    const me = conn?.meta["tandemux/principal"];
    return me && (t._meta as any)?.["tandemux/principal"] === me ? "mine" : "other";
  }

  /** may reports whether the host of a resource lets this browser do what needs a scope. */
  may(scope: string, uri = root): boolean {
    const scopes: string[] | undefined = this.at(uri)?.meta["tandemux/scopes"]; // of an older host unknown
    return !scopes || scopes.includes(scope) || scopes.includes("admin");
  }

  /** send dispatches, and says whether it was taken. */
  send(channel: string, action: Sent["action"]): Promise<void> {
    const to = this.reach(channel);
    if (!to) return Promise.reject(new RpcError(0, "it was not sent"));
    const seq = to.dispatch(channel, action);
    return new Promise((resolve, reject) =>
      this.pendingSends.set(to.clientId + seq, (refused) => (refused ? reject(new RpcError(1, refused)) : resolve())),
    );
  }

  /** dispatch is send where nobody waits for the host's word. */
  dispatch(channel: string, action: Sent["action"]) {
    this.at(channel)?.dispatch(channel, action);
  }

  /** reach is at, for what somebody does: to another host that is away nothing is sent, and
   * that is said. */
  private reach(uri: string): Connection | undefined {
    const away = this.hosts.away(uri);
    if (!away) return this.at(uri);
    this.say(away + ": nothing was sent", "warning");
    this.at(uri)?.retry();
  }

  claim(uri: string) {
    const to = this.reach(uri);
    if (!to) return;
    const action = { type: "terminal/claimed", claim: { kind: "client", clientId: to.clientId }, "x-tandemux/seen": to.seq };
    const seq = to.dispatch(uri, action);
    const feed = this.feeds.get(uri);
    if (feed) feed.asked = seq;
    this.tell();
  }

  /** type sends keys to a terminal that is this browser's; the claim follows the keyboard. */
  type(uri: string, data: string): boolean {
    if (this.hosts.away(uri)) return !this.reach(uri); // which was said
    const t = this.terminal(uri);
    const holder = t && this.holder(t);
    if (!t || (holder !== "me" && holder !== "mine") || t.lifecycle.status === "exited") return false;
    if (holder === "mine") this.claim(uri);
    for (let i = 0; i < data.length; ) {
      let end = Math.min(i + maxInput, data.length);
      if (end < data.length && /[\ud800-\udbff]/.test(data[end - 1])) end--; // no half of a character
      this.dispatch(uri, { type: "terminal/input", data: data.slice(i, end) });
      i = end;
    }
    return true;
  }

  /** call asks the host of a channel; what is wrong is said, and gives nothing. */
  async call(method: string, params: { channel: string } & Record<string, any>): Promise<any> {
    return this.invoke(method, params).catch((e) => void this.say(e.message, "warning"));
  }

  /** invoke is call whose errors are the caller's. */
  invoke(method: string, params: { channel: string } & Record<string, any>): Promise<any> {
    const to = this.at(params.channel);
    return to ? to.call(method, params) : Promise.reject(new RpcError(0, this.hosts.away(params.channel)!));
  }
}
