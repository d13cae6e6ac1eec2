// Chats with agents: reading, prompting, and what they ask.
import { useEffect, useRef, useState } from "preact/hooks";
import type * as ahp from "./types";
import { edits, type Edit, inputText } from "./edit";
import { hostOf, prefixed } from "./names";
import { waits } from "./reduce";
import { Markdown } from "./markdown";
import { draft, keep } from "./settings";
import { allowing } from "./passkey";
import type { Store } from "./store";
import { line, prose, shown } from "./text";

// How long an answer holds, in our words beside the agent's.
const covers: Record<string, string> = {
  allow_once: "this call only",
  allow_always: "this call and later ones, unasked; the agent decides which",
  reject_always: "this call and later ones, unasked",
  approve: "the agent does not say for how long",
};

/** group is the agent's word for an option, if it agrees with what the option does. */
function group(o: ahp.ToolOption): string {
  const g = (o._meta as any)?.["tandemux/group"];
  const allows = g === "allow_once" || g === "allow_always";
  return Object.hasOwn(covers, g ?? "") && allows === (o.kind === "approve") ? g : o.kind;
}

/** Whole is what a tool is called with, and what it changes. */
function Whole({ text, changes }: { text?: string; changes: Edit[] }) {
  return (
    <>
      {text && <pre tabIndex={0}>{shown(text)}</pre>}
      {changes.map((e) => (
        <figure class="edit">
          <figcaption>{line(e.path)}</figcaption>
          <pre tabIndex={0}>
            {e.lines.map((l) => (
              <span class={l[0] === "+" ? "added" : l[0] === "-" ? "gone" : ""}>{shown(l) + "\n"}</span>
            ))}
          </pre>
        </figure>
      ))}
    </>
  );
}

interface ApprovalProps {
  store: Store;
  chat: string;
  turn: string;
  call: ahp.ToolCall;
}

/** Approval asks whether a tool may run. All of it is shown; nothing is chosen before. */
export function Approval({ store, chat, turn, call }: ApprovalProps) {
  const [sent, setSent] = useState(false);
  const result = call.status === "pending-result-confirmation";
  const answer = (approved: boolean, option?: ahp.ToolOption) => {
    setSent(true);
    const id = { turnId: turn, toolCallId: call.toolCallId };
    const more = option ? { selectedOptionId: option.id } : {};
    const action = result
      ? { type: "chat/toolCallResultConfirmed", ...id, approved }
      : { type: "chat/toolCallConfirmed", ...id, approved, ...(approved ? { confirmed: "user-action" } : { reason: "denied" }), ...more };
    allowing(store, () => store.send(chat, action)).catch((e) => {
      setSent(false); // somebody else was first, or it may not be
      if (!("code" in e)) store.say(e.message, "warning"); // of the passkey
    });
  };
  const asks = prose(call.confirmationTitle ?? call.invocationMessage);
  const text = inputText(call);
  const changes = edits(call);
  const partial = !!call._meta?.["tandemux/partial"] || text === undefined || changes.some((e) => e.partial);
  const options = [...(call.options ?? [])].sort((a, b) => Number(a.kind === "approve") - Number(b.kind === "approve"));
  const buttons = options.length
    ? options.map((o) => ({ label: line(o.label), cover: covers[group(o)], yes: o.kind === "approve", option: o }))
    : [
        { label: "Deny", cover: "", yes: false, option: undefined },
        { label: "Allow", cover: "this call only", yes: true, option: undefined },
      ];
  return (
    <div class="approval" role="group" aria-label="approval">
      <p>
        <b>{line(call.displayName || call.toolName || "a tool")}</b> {asks !== shown(call.displayName ?? "") && asks}
      </p>
      {call.intention && <p class="dim">{shown(call.intention)}</p>}
      <Whole text={text} changes={changes} />
      {call._meta?.["tandemux/text"] && <pre tabIndex={0}>{shown(String(call._meta["tandemux/text"]))}</pre>}
      {call.content && <Content content={call.content} />}
      {call.riskAssessment && <p class="warn">{shown(JSON.stringify(call.riskAssessment))}</p>}
      {partial && <p class="warn">A part of it was too large to be sent here, so it can't be allowed here: deny it, and have the agent do it in smaller parts.</p>}
      <div class="answers">
        {buttons.map((b) => (
          <button type="button" class={b.yes ? "yes" : "no"} disabled={sent || (b.yes && partial)} onClick={() => answer(b.yes, b.option)}>
            {b.label}
            {b.cover && <small>{b.cover}</small>}
          </button>
        ))}
      </div>
    </div>
  );
}

const answerKinds: Record<string, string> = {
  text: "text",
  number: "number",
  integer: "number",
  boolean: "boolean",
  "single-select": "selected",
  "multi-select": "selected-many",
};

/** Ask is an agent's question to a person. */
export function Ask({ store, chat, request }: { store: Store; chat: string; request: any }) {
  const form = useRef<HTMLFormElement>(null);
  const [sent, setSent] = useState(false);
  const finish = (response: string) => {
    const answers: Record<string, any> = {};
    for (const q of response === "accept" ? (request.questions ?? []) : []) {
      const values = new FormData(form.current!).getAll(q.id).map(String);
      const v =
        q.kind === "boolean" ? values.length > 0 : q.kind === "multi-select" ? values : q.kind === "number" || q.kind === "integer" ? Number(values[0]) : (values[0] ?? "");
      if (v === "" || (typeof v === "number" && values[0] === "")) answers[q.id] = { state: "skipped" };
      else answers[q.id] = { state: "submitted", value: { kind: answerKinds[q.kind] ?? "text", value: v } };
    }
    setSent(true);
    store
      .send(chat, { type: "chat/inputCompleted", requestId: request.id, response, ...(Object.keys(answers).length ? { answers } : {}) })
      .catch(() => setSent(false));
  };
  return (
    <form
      ref={form}
      class="approval"
      onSubmit={(e: Event) => {
        e.preventDefault();
        finish("accept");
      }}
    >
      {request.message && <p>{prose(request.message)}</p>}
      {request.url && <p class="dim">{shown(request.url)}</p>}
      {(request.questions ?? []).map((q: any) => (
        <label class="field">
          <span>{prose(q.message) || line(q.title ?? "")}</span>
          <Field q={q} />
        </label>
      ))}
      <div class="answers">
        <button type="button" class="no" disabled={sent} onClick={() => finish("decline")}>
          Decline
        </button>
        <button type="submit" class="yes" disabled={sent}>
          Answer
        </button>
      </div>
    </form>
  );
}

function Field({ q }: { q: any }) {
  if (q.kind === "single-select" || q.kind === "multi-select")
    return (
      <select name={q.id} multiple={q.kind === "multi-select"} required={q.required}>
        {q.kind === "single-select" && <option value="" />}
        {(q.options ?? []).map((o: any) => (
          <option value={o.id}>{line(o.label)}</option>
        ))}
      </select>
    );
  if (q.kind === "boolean") return <input type="checkbox" name={q.id} value="true" />;
  if (q.kind === "number" || q.kind === "integer") return <input type="number" name={q.id} step={q.kind === "integer" ? 1 : "any"} required={q.required} />;
  return <input type="text" name={q.id} autocomplete="off" required={q.required} />;
}

function Content({ content }: { content: ahp.ToolContent[] }) {
  return (
    <>
      {content.map((c) => (c.type === "text" ? <pre tabIndex={0}>{shown(c.text ?? "")}</pre> : c.type === "terminal" ? <p class="dim">in a terminal: {line(c.title ?? "")}</p> : null))}
    </>
  );
}

function Part({ store, chat, turn, part }: { store: Store; chat: string; turn: string; part: any }) {
  switch (part.kind) {
    case "markdown":
      return <Markdown store={store} text={part.content} />;
    case "reasoning":
      return (
        <details class="dim">
          <summary>thinking</summary>
          <Markdown store={store} text={part.content} />
        </details>
      );
    case "systemNotification":
      return <p class="dim">{prose(part.content)}</p>;
    case "error":
      return <p class="warn">{line(part.error?.message ?? "it failed")}</p>;
    case "inputRequest":
      return part.response ? <p class="dim">answered: {part.response}</p> : <Ask store={store} chat={chat} request={part.request} />;
    case "toolCall": {
      const call: ahp.ToolCall = part.toolCall;
      if (waits(call) && call.status !== "auth-required") return <Approval key={call.toolCallId + call.status} store={store} chat={chat} turn={turn} call={call} />;
      const how = call.status === "completed" ? (call.success ? "✓" : "✗") : call.status === "cancelled" ? "–" : "…";
      return (
        <details class={"call " + call.status}>
          <summary>
            {how} {line(call.displayName || call.toolName || "")} <span class="dim">{line(prose(call.pastTenseMessage ?? call.invocationMessage ?? ""))}</span>
          </summary>
          <Whole text={inputText(call)} changes={edits(call)} />
          {call.content && <Content content={call.content} />}
          {call.error && <p class="warn">{line(call.error.message)}</p>}
        </details>
      );
    }
  }
  return null;
}

function Turn({ store, chat, turn }: { store: Store; chat: string; turn: any }) {
  return (
    <article>
      <div class="message">{shown(turn.message?.text ?? "")}</div>
      {(turn.responseParts ?? []).map((p: any) => (
        <Part key={p.toolCall?.toolCallId ?? p.id ?? p.request?.id} store={store} chat={chat} turn={turn.id} part={p} />
      ))}
      {turn.state === "cancelled" && <p class="dim">cancelled</p>}
    </article>
  );
}

/** Chat shows one, and has a place to write. */
export function Chat({ store, uri }: { store: Store; uri: string }) {
  const [text, write] = useState(() => draft(uri));
  const end = useRef<HTMLDivElement>(null);
  const bottom = useRef(true);
  useEffect(() => store.follow(uri), [uri]);
  const s = store.get<ahp.ChatState>(uri);
  useEffect(() => {
    if (bottom.current) end.current?.scrollIntoView();
  });
  /** setText keeps what was written until it is sent, also where the page is closed. */
  const setText = (next: string) => {
    write(next);
    keep(uri, next);
  };
  if (!s) return <p class="empty">{store.hosts.away(uri) || "…"}</p>;
  const away = store.hosts.away(uri);
  const name = line(prefixed(hostOf(uri), s.title || "chat"));
  const turns: any[] = s.activeTurn ? [...s.turns, s.activeTurn] : s.turns;
  const send = () => {
    if (!text.trim()) return;
    const message = { text, origin: { kind: "user" } };
    const id = crypto.randomUUID();
    setText("");
    store
      .send(uri, s.activeTurn ? { type: "chat/pendingMessageSet", kind: "queued", id, message } : { type: "chat/turnStarted", turnId: id, message })
      .catch(() => draft(uri) || setText(text)); // it was not sent: it can be sent again
  };
  return (
    <section class={"chat" + (away ? " away" : "")} aria-label={name}>
      <header>
        <b>{name}</b>
        <span class="who" title={away}>{away ? store.hosts.since(uri) : s.activity ? line(s.activity) : s.activeTurn ? "works" : ""}</span>
        {s.activeTurn && !away && <button onClick={() => void store.send(uri, { type: "chat/turnCancelled", turnId: s.activeTurn!.id }).catch(() => {})}>Stop</button>}
      </header>
      <div
        class="turns"
        onScroll={(e: Event) => {
          const b = e.currentTarget as HTMLElement;
          bottom.current = b.scrollHeight - b.scrollTop - b.clientHeight < 40;
        }}
      >
        {turns.map((t) => (
          <Turn key={t.id} store={store} chat={uri} turn={t} />
        ))}
        {(s.queuedMessages ?? []).map((m) => (
          <div class="message queued">{shown(m.message.text)}</div>
        ))}
        <div ref={end} />
      </div>
      <form
        onSubmit={(e: Event) => {
          e.preventDefault();
          send();
        }}
      >
        <textarea
          aria-label="message"
          rows={2}
          value={text}
          placeholder={s.activeTurn ? "to be sent when this turn ends" : "message; ! begins a command"}
          onInput={(e: Event) => setText((e.target as HTMLTextAreaElement).value)}
          onKeyDown={(e: KeyboardEvent) => {
            if (e.key === "Enter" && !e.shiftKey && !e.isComposing && !matchMedia("(pointer: coarse)").matches) e.preventDefault(), send();
          }}
        />
        <button type="submit">Send</button>
      </form>
    </section>
  );
}
