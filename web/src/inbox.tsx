// What waits for a person: agents' questions, programs that wait, what failed, what ended.
import type * as ahp from "./types";
import { Approval, Ask } from "./chat";
import { allowing, Passkey } from "./passkey";
import { at, hostOf, prefixed } from "./names";
import { Messages } from "./push";
import { activityURI, type Store } from "./store";
import { askOf, commandOf, endOf, nameOf } from "./terminal";
import { ago, line, shown, took } from "./text";

/** A command that took less than this was waited for by whoever started it. */
const long = 10_000;

export interface Item {
  key: string;
  at: number;
  /** Somebody waits for an answer. */
  waits: boolean;
  failed?: boolean;
  title: string;
  text: string;
  terminal?: string;
  chat?: string;
  body?: preact.ComponentChildren;
}

const needs: Record<string, string> = { permission: "asks for permission", question: "has a question", auth: "wants you to sign in" };

/** items are what waits, the most pressing first. */
export function items(store: Store): Item[] {
  const all: Item[] = [];
  for (const t of store.terminals) {
    const ask = askOf(t);
    const at = { terminal: t.resource };
    if (ask)
      all.push({
        key: "ask" + t.resource + ask.id,
        at: Date.now(),
        waits: true,
        title: `${line(ask.who)} ${ask.command ? "asks to run a command" : "asks for " + nameOf(t)}`,
        text: shown(ask.reason),
        body: <Answer store={store} uri={t.resource} ask={ask} />,
        ...at,
      });
    const a = store.attention(t.resource);
    const seen = a?.seen ?? 0;
    const st = a?.status;
    if (st?.state === "blocked")
      all.push({ key: "status" + t.resource, at: st.at, waits: true, title: nameOf(t), text: line(`${st.app ?? ""} ${needs[st.kind ?? ""] ?? "waits for you"} ${st.text ?? ""}`), ...at });
    else if (st && (st.state === "error" || st.state === "done") && st.at > seen)
      all.push({ key: "status" + t.resource, at: st.at, waits: false, failed: st.state === "error", title: nameOf(t), text: line(`${st.app ?? ""} ${st.state === "error" ? "failed" : "is done"} ${st.text ?? ""}`), ...at });
    const c = commandOf(t);
    const ended = endOf(t);
    if (c && ended > seen && (c.durationMs ?? 0) >= long) {
      const failed = c.exitCode !== undefined && c.exitCode !== 0;
      all.push({
        key: "command" + t.resource + c.commandId,
        at: ended,
        waits: false,
        failed,
        title: line(c.commandLine),
        text: `${c.exitCode === undefined ? "ended" : failed ? `failed with ${c.exitCode}` : "done"} after ${took(c.durationMs!)}, in ${nameOf(t)}`,
        ...at,
      });
    }
    if (a?.note && a.note.at > seen) all.push({ key: "note" + t.resource, at: a.note.at, waits: false, title: line(a.note.title || nameOf(t)), text: line(a.note.body ?? ""), ...at });
  }
  for (const s of store.sessions) {
    for (const n of store.get<any>(s.resource)?.inputNeeded ?? []) {
      if (n.kind === "toolClientExecution") continue;
      all.push({
        key: s.resource + n.id,
        at: Date.parse(s.modifiedAt) || Date.now(),
        waits: true,
        title: line(prefixed(hostOf(s.resource), s.title || "a session")),
        text: "",
        chat: n.chat,
        body: n.toolCall ? (
          <Approval key={n.id} store={store} chat={n.chat} turn={n.turnId} call={n.toolCall} />
        ) : n.request ? (
          <Ask key={n.id} store={store} chat={n.chat} request={n.request} />
        ) : null,
      });
    }
  }
  const rank = (i: Item) => (i.waits ? 0 : i.failed ? 1 : 2);
  return all.sort((a, b) => rank(a) - rank(b) || b.at - a.at);
}

/** Answer is for an agent's question for a terminal, or for a command. */
function Answer({ store, uri, ask }: { store: Store; uri: string; ask: ahp.Ask }) {
  const answer = (grant: boolean) => allowing(store, () => store.invoke("x-tandemux/answer", { channel: uri, id: ask.id, grant })).catch((e) => store.say(e.message, "warning"));
  return (
    <div class="approval" role="group" aria-label="approval">
      {ask.command && <pre tabIndex={0}>{shown(ask.command)}</pre>}
      <div class="answers">
        <button class="no" onClick={() => answer(false)}>
          Refuse
        </button>
        <button class="yes" onClick={() => answer(true)}>
          {ask.command ? "Let it run" : "Give it"}
          <small>{ask.command ? "this once" : "the terminal, until you take it"}</small>
        </button>
      </div>
    </div>
  );
}

export function Inbox({ store, open }: { store: Store; open: (i: Item) => void }) {
  const all = items(store);
  const warnings = store.hosts.roots.flatMap((r) => {
    const w = store.get<ahp.ActivityState>(at(hostOf(r), activityURI))?.warning;
    return w ? [line(prefixed(hostOf(r), (hostOf(r) && " ") + w))] : [];
  });
  return (
    <div class="inbox">
      {warnings.map((w) => (
        <p class="warn">{w}</p>
      ))}
      {!all.length && <p class="empty">Nothing waits for you.</p>}
      {all.map((i) => (
        <article key={i.key} class={"item" + (i.waits ? " waits" : i.failed ? " failed" : "")}>
          <button class="open" onClick={() => open(i)}>
            <b>{i.title}</b>
            <time>{ago(i.at)}</time>
            {i.text && <span>{i.text}</span>}
          </button>
          {i.body}
        </article>
      ))}
      <Messages store={store} />
      <Passkey store={store} />
    </div>
  );
}
