// Passkeys: one that this browser makes lets it in again without a link, and confirms what it
// allows where the configuration wants that. The host checks; this only brings.
import { useState } from "preact/hooks";
import { ask } from "./push";
import type { Store } from "./store";

const PK = (globalThis as any).PublicKeyCredential;

/** whyNot says why passkeys can't be had here, empty if they can. */
export function whyNot(): string {
  if (!isSecureContext) return "Passkeys need https, or a page on localhost.";
  if (/^[\d.]+$|^\[/.test(location.hostname)) return location.hostname === "127.0.0.1" ? "Passkeys need a name: open a link at localhost in place of 127.0.0.1." : "Passkeys need a name: open the page by the machine's.";
  if (!PK?.parseRequestOptionsFromJSON) return "This browser has no passkeys.";
  return "";
}

/** bring is what the host is brought of a credential. */
function bring(c: any) {
  const { id, response: r } = c.toJSON();
  return { id, clientData: r.clientDataJSON, authenticatorData: r.authenticatorData, publicKey: r.publicKey, signature: r.signature, userHandle: r.userHandle };
}

async function post(path: string, method: string, body: object): Promise<any> {
  const r = await fetch(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!r.ok) throw new Error(await r.text());
  return r.json();
}

async function use(): Promise<object> {
  const options = await post("/web/passkey/ask", "POST", {});
  return bring(await navigator.credentials.get({ publicKey: PK.parseRequestOptionsFromJSON(options) }));
}

/** prove has the person use their passkey: for a minute the host takes what they allow. */
export async function prove(store: Store) {
  const why = whyNot();
  if (why) throw new Error(why);
  await ask(store, "/web/passkey/prove", "PUT", await use());
}

/** allowing does what allows something; where the host wants a passkey first, that comes
 * first. */
export async function allowing<T>(store: Store, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (e: any) {
    if (!/a passkey has to confirm/.test(e.message)) throw e;
    await prove(store);
    return f();
  }
}

/** Passkey adds one. */
export function Passkey({ store }: { store: Store }) {
  const [busy, work] = useState(false);
  const no = whyNot();
  if (no) return <p class="messages">{no}</p>;
  const add = async () => {
    work(true);
    try {
      const options = await allowing(store, () => ask(store, "/web/passkey", "POST", {}));
      await ask(store, "/web/passkey", "PUT", bring(await navigator.credentials.create({ publicKey: PK.parseCreationOptionsFromJSON(options) })));
      store.say("a passkey was added: it lets you in without a link");
    } catch (e: any) {
      store.say(e.message, "warning");
    }
    work(false);
  };
  return (
    <p class="messages">
      <button disabled={busy} onClick={add}>
        Add a passkey
      </button>
      <small>It lets you in the next time without a link.</small>
    </p>
  );
}

/** SignIn lets a browser in by its passkey. */
export function SignIn() {
  const [said, say] = useState("");
  if (whyNot()) return null;
  const go = async () => {
    try {
      const { key } = await post("/web/passkey/sign-in", "PUT", await use());
      localStorage.setItem("tandemux-page", key);
      location.assign("/web/");
    } catch (e: any) {
      say(e.message);
    }
  };
  return (
    <p>
      <button onClick={go}>Sign in with a passkey</button> {said}
    </p>
  );
}
