// Messages to this device while the page is closed: the host sends them by the browser's push
// service, encrypted for the page's service worker, in words that say nothing of what waits.
import { useEffect, useState } from "preact/hooks";
import type { Store } from "./store";

const bytes = (text: string) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** ask asks the host as this page. */
export async function ask(store: Store, path: string, method: string, body?: object): Promise<any> {
  const r = await fetch(path, { method, headers: { "X-Tandemux-Page": store.pass.key, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  if (!r.ok) throw new Error(await r.text());
  return r.json();
}

/** why messages can't be had here, empty if they can. */
function why(): string {
  if (!isSecureContext) return "Messages to this device need https, or a page on localhost.";
  if (!("PushManager" in globalThis)) return "This browser takes messages only when the page is installed, or not at all.";
  if (Notification.permission === "denied") return "This browser was told to show no messages of this page.";
  return "";
}

async function begin(store: Store) {
  if ((await Notification.requestPermission()) !== "granted") throw new Error("The browser does not show messages of this page.");
  const { key } = await ask(store, "/web/push", "GET");
  const at = await navigator.serviceWorker.ready;
  // One of another key is another host's, or was made before the host lost its own.
  await (await at.pushManager.getSubscription())?.unsubscribe();
  const s = await at.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
  await ask(store, "/web/push", "POST", s.toJSON());
}

async function end(store: Store) {
  await ask(store, "/web/push", "DELETE");
  await (await (await navigator.serviceWorker.ready).pushManager.getSubscription())?.unsubscribe();
}

/** Messages turns messages on and off. */
export function Messages({ store }: { store: Store }) {
  const [on, set] = useState(false);
  const [busy, work] = useState(false);
  const [no, setNo] = useState<string>();
  useEffect(() => {
    const no = why(); // the browser takes its time to say so: not before the first screen
    setNo(no);
    if (!no) void navigator.serviceWorker.ready.then((r) => r.pushManager.getSubscription()).then((s) => set(!!s && localStorage.getItem("tandemux-push") === store.pass.key));
  }, []);
  if (no) return <p class="messages">{no}</p>;
  const turn = async () => {
    work(true);
    try {
      await (on ? end : begin)(store);
      localStorage.setItem("tandemux-push", on ? "" : store.pass.key);
      set(!on);
    } catch (e: any) {
      store.say(e.message, "warning");
      setNo(why());
    }
    work(false);
  };
  return (
    <p class="messages">
      <button aria-pressed={on} disabled={busy} onClick={turn}>
        {on ? "No messages to this device" : "Messages to this device"}
      </button>
      <small>{on ? "It is told that something waits, and never what." : "When something waits and the page is closed."}</small>
    </p>
  );
}

/** opened calls f when a message was opened. */
export function opened(f: () => void): () => void {
  const hear = (e: MessageEvent) => e.data === "inbox" && f();
  navigator.serviceWorker?.addEventListener("message", hear);
  return () => navigator.serviceWorker?.removeEventListener("message", hear);
}
