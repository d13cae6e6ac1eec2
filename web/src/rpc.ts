// A connection to the host: JSON-RPC over WebSocket that outlives lost sockets. What was
// dispatched and not answered is sent again under its number, so that it counts once.

import { address, begun } from "./line";
import { at, hostOf, inward, outward, root } from "./names";
import { browserName } from "./share";

export { root };

export interface Envelope {
  channel: string;
  serverSeq: number;
  action: { type: string } & Record<string, any>;
  origin?: { clientId: string; clientSeq: number };
  rejectionReason?: string;
}

export interface Snapshot {
  resource: string;
  state: any;
  fromSeq: number;
}

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** What a connection tells; it says which it is where that matters. */
export interface Listener {
  /** The state of a channel as it is now; all that was known of it is past. */
  snapshot(s: Snapshot): void;
  /** In the order of the host's numbers. Own ones that were refused have a reason. */
  action(e: Envelope, from: Connection): void;
  notification(method: string, params: any, from: Connection): void;
  /** The host asks; undefined is no answer of this client's. */
  request(method: string, params: any, from: Connection): object | undefined;
  /** A channel is gone. */
  missing(uri: string): void;
  /** online: it answers. lost: it is being dialled again. out: it lets this browser in no more. */
  changed(state: "online" | "lost" | "out", of: Connection): void;
  /** Of these the host does not say whether they were done: it knows this client no more. */
  doubtful(actions: Sent[], host: string): void;
}

export interface Sent {
  channel: string;
  clientSeq: number;
  action: { type: string } & Record<string, any>;
}

const firstPause = 150;
/** Between attempts, and after this a line that has not been greeted on is given up: of the
 * page's own host; and of another one, which may be reached by ssh, or be away for hours. */
const longest = { own: { pause: 5000, greeting: 8000 }, other: { pause: 60_000, greeting: 25_000 } };

/** How long a host may say nothing after something was sent. */
const patience = 10_000;

export class Connection {
  readonly clientId = "tandemux-browser-" + crypto.randomUUID();
  /** The host's root channel, as it is called here. */
  readonly root: string;
  /** Since when there has been no line, and why as far as that is known. */
  since = Date.now();
  why = "";
  meta: Record<string, any> = {};
  /** Where files are looked for first. */
  directory?: string;
  private ws?: WebSocket;
  private id = 0;
  private clientSeq = 0;
  private lastSeq = 0;
  private calls = new Map<number, { resolve: (v: any) => void; reject: (e: Error) => void }>();
  private sent: Sent[] = [];
  private subscriptions = new Set<string>();
  private pause = firstPause;
  private timer = 0;
  private waits = 0; // the timer of expect, 0 for none
  private state: "online" | "lost" | "out" = "lost";
  private readonly most: (typeof longest)["own"];
  private readonly ended = new AbortController();

  /** host is the name of another one than the page's own. */
  constructor(
    private readonly key: string,
    private readonly listener: Listener,
    readonly host = "",
  ) {
    this.root = at(host, root);
    this.most = host ? longest.other : longest.own;
    // A page that comes back from sleep finds out at once whether its line still holds.
    const { signal } = this.ended;
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.prove(), { signal });
    addEventListener("online", () => this.prove(), { signal });
    this.dial();
  }

  /** close takes leave for good. */
  close() {
    this.ended.abort();
    clearTimeout(this.timer);
    this.state = "out";
    this.ws?.close();
    this.lost(0);
  }

  /** retry tries at once, where nothing is under way. */
  retry() {
    if (!this.ws && this.state !== "out") this.dial();
  }

  get online() {
    return this.state === "online";
  }

  private become(s: "online" | "lost" | "out") {
    if (this.state === s) return;
    if (this.state === "online") this.since = Date.now();
    this.state = s;
    this.listener.changed(s, this);
  }

  private dial() {
    clearTimeout(this.timer);
    const ws = (!this.host && begun()) || new WebSocket(address(this.key, this.host));
    this.ws = ws;
    // A line that leads nowhere says nothing, not even when it is closed.
    const slow = setTimeout(() => {
      if (this.ws !== ws) return;
      this.lost(0, "it does not answer");
      ws.close();
    }, this.most.greeting);
    ws.onopen = () => void this.greet(ws).finally(() => clearTimeout(slow));
    if (ws.readyState === WebSocket.OPEN) queueMicrotask(() => ws.onopen!(new Event("open")));
    ws.onmessage = (e) => this.ws === ws && this.read(e.data);
    ws.onclose = (e) => {
      clearTimeout(slow);
      if (this.ws === ws) this.lost(e.code, e.reason);
    };
  }

  private lost(code: number, why = "") {
    this.ws = undefined;
    this.why = why;
    this.heard();
    for (const c of this.calls.values()) c.reject(new RpcError(0, "the connection was lost"));
    this.calls.clear();
    if (this.ended.signal.aborted) return;
    if (code === 1008 && !this.host) return this.become("out"); // the token was revoked
    const was = this.state;
    this.become("lost");
    this.timer = window.setTimeout(() => this.dial(), this.pause * (0.8 + Math.random() * 0.4));
    this.pause = Math.min(this.pause * 2, this.most.pause);
    if (this.host) this.listener.changed("lost", this); // it may have another reason
    else if (was !== "online") void this.ask();
  }

  /** ask finds out why no socket opens, which browsers don't say. */
  private async ask() {
    const r = await fetch("/ahp", { headers: { "X-Tandemux-Page": this.key } }).catch(() => undefined);
    if (r?.status === 401 && this.state === "lost") {
      clearTimeout(this.timer);
      this.become("out");
    }
  }

  /** prove sees to it that a line that is dead without a word is found out. */
  private prove() {
    if (this.state === "out") return;
    const ws = this.ws;
    if (!ws) return this.dial();
    const timer = setTimeout(() => ws.close(), 5000);
    this.call("ping", { channel: this.root }).then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
  }

  /** expect finds out about another host that says nothing after something was sent: of a
   * network, or a machine that sleeps, nobody tells. */
  private expect() {
    if (this.host && !this.waits) this.waits = window.setTimeout(() => ((this.waits = 0), this.prove()), patience);
  }

  private heard() {
    clearTimeout(this.waits);
    this.waits = 0;
  }

  private async greet(ws: WebSocket) {
    try {
      if (this.lastSeq > 0) {
        try {
          await this.resume();
        } catch (e) {
          if (!(e instanceof RpcError) || e.code === 0) throw e;
          await this.begin(); // the host does not know us: its client's memory is gone
        }
      } else await this.begin();
      this.pause = firstPause;
      this.become("online");
      for (const s of this.sent) this.note("dispatchAction", s);
    } catch {
      ws.close();
    }
  }

  private async begin() {
    const had = this.sent;
    this.sent = [];
    const r = await this.call("initialize", {
      channel: this.root,
      protocolVersions: ["1.1.0", "1.0.0"],
      clientId: this.clientId,
      clientInfo: { name: "tandemux-web", title: browserName() },
      initialSubscriptions: [...this.subscriptions],
      locale: navigator.language,
    });
    this.meta = r._meta ?? {};
    this.directory = r.defaultDirectory;
    this.lastSeq = r.serverSeq;
    const got = new Set<string>();
    for (const s of r.snapshots) {
      got.add(s.resource);
      this.snapshot(s);
    }
    for (const uri of this.subscriptions) if (!got.has(uri)) void this.subscribe(uri).catch(() => this.gone(uri));
    if (had.length) this.listener.doubtful(had, this.host);
  }

  private async resume() {
    const r = await this.call("reconnect", {
      channel: this.root,
      clientId: this.clientId,
      lastSeenServerSeq: this.lastSeq,
      subscriptions: [...this.subscriptions],
      _meta: { "tandemux/continues": true },
    });
    if (r.type === "replay") {
      for (const e of r.actions) this.envelope(e);
      for (const uri of r.missing) this.gone(uri);
      return;
    }
    const got = new Set<string>();
    for (const s of r.snapshots) {
      got.add(s.resource);
      this.saw(s.fromSeq);
      this.snapshot(s);
    }
    for (const uri of [...this.subscriptions]) if (!got.has(uri)) this.gone(uri);
  }

  /** ours reports whether a channel is of this connection's host: another one's it has nothing
   * to say about. */
  private ours = (uri: unknown) => typeof uri === "string" && hostOf(uri) === this.host;

  private snapshot(s: Snapshot) {
    if (this.ours(s.resource)) this.listener.snapshot(s);
  }

  private gone(uri: string) {
    this.subscriptions.delete(uri);
    this.listener.missing(uri);
  }

  private saw(seq: number) {
    this.lastSeq = Math.max(this.lastSeq, seq);
  }

  private read(text: string) {
    this.heard();
    const m = inward(this.host, JSON.parse(text));
    if (m.method === undefined) {
      const c = this.calls.get(m.id);
      this.calls.delete(m.id);
      if (m.error) c?.reject(new RpcError(m.error.code, m.error.message, m.error.data));
      else c?.resolve(m.result);
    } else if (m.method === "action") this.envelope(m.params);
    else if (m.id === undefined) {
      if (m.method === "x-tandemux/skimmed") this.saw(m.params.fromSeq);
      this.listener.notification(m.method, m.params, this);
    } else this.answer(m);
  }

  private answer(m: any) {
    try {
      const result = this.listener.request(m.method, m.params, this);
      this.send({ jsonrpc: "2.0", id: m.id, ...(result ? { result } : { error: { code: -32601, message: "this client does not answer " + m.method } }) });
    } catch (e: any) {
      this.send({ jsonrpc: "2.0", id: m.id, error: { code: -32602, message: String(e.message) } });
    }
  }

  private envelope(e: Envelope) {
    this.saw(e.serverSeq);
    if (e.origin?.clientId === this.clientId) {
      const seq = e.origin.clientSeq;
      this.sent = this.sent.filter((s) => s.clientSeq !== seq);
    }
    if (this.ours(e.channel)) this.listener.action(e, this);
  }

  private send(m: object) {
    this.expect();
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify(outward(this.host, m)));
  }

  /** note tells the host something that needs no answer; without a line nobody hears it. */
  note(method: string, params: object) {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** call asks; the answer of a lost connection is an error of code 0. */
  call(method: string, params: object): Promise<any> {
    if (this.ws?.readyState !== WebSocket.OPEN) return Promise.reject(new RpcError(0, "there is no connection to " + (this.host || "the host")));
    const id = ++this.id;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** subscribe gives a channel's state to the listener, and all that follows; brief: of a
   * terminal the screen alone. */
  async subscribe(uri: string, brief = false) {
    this.subscriptions.add(uri);
    if (!this.online && this.lastSeq === 0) return; // the handshake does
    const r = await this.call("subscribe", { channel: uri, ...(brief && { _meta: { "tandemux/within": 0 } }) }).catch((e) => {
      if (e instanceof RpcError && e.code === 0) return undefined; // so does the next one
      this.subscriptions.delete(uri);
      throw e;
    });
    if (!r || !this.subscriptions.has(uri)) return;
    this.saw(r.snapshot.fromSeq);
    this.snapshot(r.snapshot);
  }

  unsubscribe(uri: string) {
    if (this.subscriptions.delete(uri)) this.note("unsubscribe", { channel: uri });
  }

  /** dispatch has something done, once, also where the connection is lost meanwhile. */
  dispatch(channel: string, action: Sent["action"]): number {
    const s = { channel, clientSeq: ++this.clientSeq, action };
    this.sent.push(s);
    if (this.online) this.note("dispatchAction", s);
    return s.clientSeq;
  }

  /** seq is the number of the last that was seen: what a claim is decided on. */
  get seq() {
    return this.lastSeq;
  }
}
