// Tasks: which there are, what one says, what it changed, and its way home.
import { useEffect, useState } from "preact/hooks";
import { Api, ApiError } from "./api";
import { Changes } from "./changes";
import { Chat } from "./chat";
import { hostOf, prefixed } from "./names";
import type { Store } from "./store";
import { line, shown } from "./text";

export interface Task {
  id: string;
  name: string;
  status: string;
  reason?: string;
  doing?: string;
  session?: string;
  workspace?: unknown;
  questions?: { id: string }[];
}

/** useTold gives what the interface answers to what key stands for, anew when a session changes. */
export function useTold<T>(store: Store, key: string, get: () => Promise<T>): [T | undefined, string, () => void] {
  const [told, setTold] = useState<T>();
  const [wrong, setWrong] = useState("");
  const [n, setN] = useState(0);
  useEffect(() => {
    let off = false;
    const timer = setTimeout(
      () =>
        get().then(
          (r) => off || (setTold(r), setWrong("")),
          (e) => off || setWrong(e.message),
        ),
      told ? 300 : 0, // sessions change many times in a turn
    );
    return () => {
      off = true;
      clearTimeout(timer);
    };
  }, [key, store.sessions, n]);
  return [told, wrong, () => setN((m) => m + 1)];
}

const order = ["WAITING", "FAILED", "RUNNING", "CREATING", "PENDING", "IDLE", "CANCELLED", "DELETING"];

/** listed are the tasks of hosts; of others their ids and names say whose they are. One that
 * does not answer is left out, but for the page's own. */
async function listed(store: Store, there: string[]): Promise<{ data: Task[]; next?: string }> {
  const pages = await Promise.all(
    there.map((host) => {
      const got: Promise<{ data: Task[]; next?: string }> = new Api(store.pass.key, host).get("/tasks?limit=100");
      return host ? got.catch(() => ({ data: [], next: "" })) : got;
    }),
  );
  const data = pages.flatMap((p, i) => p.data.map((t) => ({ ...t, id: prefixed(there[i], t.id), name: prefixed(there[i], t.name) })));
  return { data, next: pages.find((p) => p.next)?.next };
}

export function Tasks({ store, open }: { store: Store; open: (id: string) => void }) {
  const there = store.hosts.roots.filter((r) => !store.hosts.away(r)).map(hostOf);
  const [page, wrong] = useTold(store, there.join(), () => listed(store, there));
  const all = [...(page?.data ?? [])].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return (
    <div class="list">
      {wrong && <p class="warn">{shown(wrong)}</p>}
      {page && !all.length && <p class="empty">No task. <code>tandemux task new</code> makes one.</p>}
      {all.map((t) => (
        <button key={t.id} class={"row task-" + t.status.toLowerCase()} onClick={() => open(t.id)}>
          <b>{line(t.name)}</b>
          <span>{t.status.toLowerCase()}</span>
          <small>{line(t.doing || t.reason || "")}</small>
        </button>
      ))}
      {page?.next && <p class="dim">Older ones are not listed here.</p>}
    </div>
  );
}

/** does has something done, and says what was wrong. */
async function does(store: Store, what: Promise<unknown>, done?: string): Promise<ApiError | undefined> {
  try {
    await what;
    if (done) store.say(done);
  } catch (e) {
    if (e instanceof ApiError && e.status === 409) return e;
    store.say((e as Error).message, "warning");
  }
}

export function TaskView({ store, id, back }: { store: Store; id: string; back: () => void }) {
  const [api, there] = store.task(id);
  const at = "/tasks/" + encodeURIComponent(there);
  const [t, wrong, anew] = useTold<Task>(store, id + api.host, () => api.get(at));
  const [changes, setChanges] = useState(false);
  const [merging, setMerging] = useState<Merge>();
  const session = store.sessions.find((s) => s.resource === t?.session);
  const chat = session?.defaultChat ?? session?.chats?.[0]?.resource;

  const update = async () => {
    const clash = await does(store, api.post(at + "/workspace/update"), "updated");
    if (clash)
      store.ask({
        text: "It was not updated. Have its agent resolve the conflicts, if these are why?",
        detail: clash.message,
        yes: "Have it resolve them",
        do: () => void does(store, api.post(at + "/workspace/update", { ask: true }), "its agent resolves the conflicts").then((e) => e && store.say(e.message, "warning")),
      });
    anew();
  };
  const merge = () => api.post(at + "/workspace/merge", { dry_run: true }).then(setMerging, (e) => store.say(e.message, "warning"));
  const remove = () =>
    store.ask({
      text: `Delete the task ${t!.name} with its files?`,
      detail: "A branch with commits that are nowhere else stays.",
      yes: "Delete",
      do: () => void does(store, api.remove(at), "deleted").then((e) => (e ? store.say(e.message, "warning") : back())),
    });
  return (
    <section class="task" aria-label={"task " + line(t?.name ?? id)}>
      <header>
        <button onClick={back}>‹ back</button>
        <b>{line(prefixed(api.host, t?.name ?? ""))}</b>
        <span class="who">{t ? line(`${t.status.toLowerCase()} ${t.doing || t.reason || ""}`) : line(wrong)}</span>
        {t && (
          <span class="actions">
            {t.status === "RUNNING" && <button onClick={() => void does(store, api.post(at + "/stop"))}>Stop</button>}
            {!!t.workspace && <button onClick={() => void update()}>Update</button>}
            {!!t.workspace && <button onClick={() => void merge()}>Merge</button>}
            <button onClick={remove}>Delete</button>
          </span>
        )}
      </header>
      <nav class="tabs" role="tablist">
        <button role="tab" aria-selected={!changes} onClick={() => setChanges(false)}>
          Conversation
        </button>
        <button role="tab" aria-selected={changes} onClick={() => setChanges(true)}>
          Changes
        </button>
      </nav>
      {merging && <Merging store={store} api={api} at={at} plan={merging} close={() => (setMerging(undefined), anew())} />}
      {t && changes && <Changes store={store} api={api} at={at} session={t.session} />}
      {t && !changes && (chat ? <Chat key={chat} store={store} uri={chat} /> : <Beginning store={store} api={api} at={at} />)}
    </section>
  );
}

/** Beginning has a place for the first message, before there is a conversation. */
function Beginning({ store, api, at }: { store: Store; api: Api; at: string }) {
  const [text, setText] = useState("");
  const send = (e: Event) => {
    e.preventDefault();
    if (text.trim()) void does(store, api.post(at + "/events", { content: text })).then((clash) => (clash ? store.say(clash.message, "warning") : setText("")));
  };
  return (
    <div class="chat">
      <p class="empty turns">Nothing was said yet.</p>
      <form onSubmit={send}>
        <textarea aria-label="message" rows={2} value={text} placeholder="what it is to do" onInput={(e: Event) => setText((e.target as HTMLTextAreaElement).value)} />
        <button type="submit">Send</button>
      </form>
    </div>
  );
}

/** What a merge would do. */
interface Merge {
  into: string;
  files: { path: string }[];
  left: string[];
  nothing?: boolean;
  behind?: number;
  message?: string;
  check?: string;
}

function Merging({ store, api, at, plan, close }: { store: Store; api: Api; at: string; plan: Merge; close: () => void }) {
  const [message, setMessage] = useState(plan.message ?? "");
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const go = async (more: object) => {
    setBusy(true);
    const e = await does(store, api.post(at + "/workspace/merge", { ...(message && { message }), ...more }), "merged into " + plan.into);
    setBusy(false);
    if (e) setWrong(e.message);
    else close();
  };
  return (
    <div class="merge" role="group" aria-label="merge">
      {plan.nothing ? (
        <p>There is nothing to bring home.</p>
      ) : (
        <>
          <p>
            {plan.files.length === 1 ? "One file goes" : `${plan.files.length} files go`} into {line(plan.into)}.{plan.behind ? ` It has ${plan.behind} commits that the task has not.` : ""}
            {plan.left.length > 0 && ` ${plan.left.length} can't come home: ${plan.left.slice(0, 5).map(line).join(", ")}.`}
          </p>
          {plan.message !== undefined && <textarea aria-label="message of the commit" rows={4} value={message} onInput={(e: Event) => setMessage((e.target as HTMLTextAreaElement).value)} />}
          {plan.check && <p class="dim">The check must succeed: {line(plan.check)}</p>}
        </>
      )}
      {wrong && <pre tabIndex={0}>{shown(wrong)}</pre>}
      <div class="answers">
        <button onClick={close}>Not now</button>
        {!plan.nothing && wrong && plan.check && (
          <button class="no" disabled={busy} onClick={() => void go({ no_check: true })}>
            Merge without the check
          </button>
        )}
        {!plan.nothing && (
          <button class="yes" disabled={busy} onClick={() => void go({})}>
            {busy ? "merging …" : "Merge"}
          </button>
        )}
      </div>
    </div>
  );
}
