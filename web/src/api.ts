// A host's HTTP interface for tasks, with this page's cookie and key.
import { inward } from "./names";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** most is what is read of an answer. */
const most = 8 << 20;

export class Api {
  /** host is the name of another one, which is asked by way of the page's own. */
  constructor(
    private readonly key: string,
    readonly host = "",
  ) {}

  private async ask(method: string, path: string, body?: object): Promise<Response> {
    const headers: Record<string, string> = { "X-Tandemux-Page": this.key };
    if (body) headers["Content-Type"] = "application/json";
    if (method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
    const r = await fetch((this.host && "/hosts/" + this.host) + "/api/v1" + path, { method, headers, body: body && JSON.stringify(body) }).catch(() => undefined);
    if (!r) throw new ApiError(0, "the host does not answer");
    if (r.ok) return r;
    const text = await r.text();
    let said = text;
    try {
      said = JSON.parse(text).message ?? text;
    } catch {
      // It was no JSON.
    }
    throw new ApiError(r.status, said || `the host answered ${r.status}`);
  }

  async get(path: string): Promise<any> {
    return inward(this.host, await (await this.ask("GET", path)).json());
  }

  /** text is an answer as text, and whether that is all of it. */
  async text(path: string): Promise<{ text: string; whole: boolean }> {
    const reader = (await this.ask("GET", path)).body!.getReader();
    const decode = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decode.decode(), whole: true };
      text += decode.decode(value, { stream: true });
      if (text.length > most) {
        void reader.cancel();
        return { text, whole: false };
      }
    }
  }

  async post(path: string, body: object = {}): Promise<any> {
    const r = await this.ask("POST", path, body);
    return r.status === 204 ? undefined : r.json();
  }

  async remove(path: string): Promise<void> {
    await this.ask("DELETE", path);
  }
}
