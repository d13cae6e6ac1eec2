// The other hosts that the page's owner has given names: a connection to each, by way of the
// page's own host, which dials them as the owner's terminal interface would. Each has its own
// client id, is tried again by itself, and keeps what is known of it while it is away.
import { namesAddress } from "./line";
import { at, hostOf, root } from "./names";
import { Connection } from "./rpc";
import type { Store } from "./store";
import { line } from "./text";

const pause = 5000;

/** clock is a time of day. */
const clock = (ms: number) => new Date(ms).toTimeString().slice(0, 5);

export class Hosts {
  /** By name, in the list's order. */
  all = new Map<string, Connection>();
  private ws?: WebSocket;
  private known = false; // the names have come

  constructor(private readonly store: Store) {}

  /** follow learns the names, and those that change, where this page is told them. */
  follow() {
    for (const c of this.all.values()) c.retry();
    if (this.ws || !this.store.may("admin")) return;
    const ws = (this.ws = new WebSocket(namesAddress(this.store.pass.key)));
    let told = false;
    ws.onmessage = (e) => {
      told = true;
      this.take(JSON.parse(e.data));
    };
    ws.onclose = () => {
      this.ws = undefined;
      if (told) setTimeout(() => this.store.line === "online" && this.follow(), pause);
    };
  }

  /** take takes the names of now. */
  take(names: string[]) {
    const had = this.all;
    this.known = true;
    this.all = new Map(names.map((n) => [n, had.get(n) ?? new Connection(this.store.pass.key, this.store, n)]));
    for (const [n, c] of had)
      if (!this.all.has(n)) {
        c.close();
        this.store.forget(n);
      }
    for (const [n, c] of this.all) if (!had.has(n)) this.store.arrived(c);
    this.store.tell();
  }

  /** away says why nothing is to be had of a resource now, empty where its host is connected.
   * What is wrong with the page's own host the page says itself. */
  away(uri: string): string {
    const host = hostOf(uri);
    if (!host) return "";
    const c = this.all.get(host);
    if (!c) return this.known ? `no host is called ${line(host)}` : this.store.may("admin") ? "connecting …" : "this browser may not reach other hosts";
    if (c.online) return "";
    return `no connection to ${line(host)} since ${clock(c.since)}${c.why && ": " + line(c.why)}`;
  }

  /** since is a word for the header of a pane whose host is away. */
  since(uri: string): string {
    const c = this.all.get(hostOf(uri));
    return c ? "away since " + clock(c.since) : "away";
  }

  /** roots are the root channels of all hosts, the page's own first. */
  get roots(): string[] {
    return [root, ...[...this.all.keys()].map((n) => at(n, root))];
  }
}
