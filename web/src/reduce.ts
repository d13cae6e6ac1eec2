// The reducers of AHP: a channel's state after an action. They are pure, share what did not
// change, and pass the cases that those of package ahp pass (../build/reduce_test.go).
//
// They are of 1.x, which is what the page offers. Actions of another channel, or of a type
// that is not known, change nothing.
import type * as ahp from "./types";

type Action = { type: string } & Record<string, any>;
type Table<S> = Record<string, (s: S, a: any) => S>;

/** reducer makes one of a table. */
export const reducer =
  <S>(table: Table<S>) =>
  (s: S, a: Action): S =>
    Object.hasOwn(table, a.type) ? table[a.type](s, a) : s;

/** without is an object without members. */
function without<T extends object>(o: T, ...names: string[]): T {
  const next: any = { ...o };
  for (const n of names) delete next[n];
  return next;
}

/** set has a member where there is a value, and none where there is not. */
function set<T extends object>(o: T, name: string, v: unknown): T {
  return v === undefined || v === null || v === "" ? without(o, name) : { ...o, [name]: v };
}

/** upsert replaces the first element that matches, or appends. */
function upsert<T>(list: readonly T[] | undefined, v: T, match: (e: T) => boolean): T[] {
  const all = [...(list ?? [])];
  const i = all.findIndex(match);
  if (i < 0) all.push(v);
  else all[i] = v;
  return all;
}

/** removed is an object whose list lacks what matches; an empty list goes. */
function removed<T extends object>(o: T, name: string, match: (e: any) => boolean): T {
  const had: any[] = (o as any)[name] ?? [];
  const rest = had.filter((e) => !match(e));
  return rest.length === had.length ? o : rest.length ? { ...o, [name]: rest } : without(o, name);
}

// Root.

export const reduceRoot = reducer<any>({
  "root/agentsChanged": (s, a) => ({ ...s, agents: a.agents ?? [] }),
  "root/activeSessionsChanged": (s, a) => ({ ...s, activeSessions: a.activeSessions }),
  "root/terminalsChanged": (s, a) => ({ ...s, terminals: a.terminals ?? [] }),
  "root/configChanged": (s, a) =>
    s.config ? { ...s, config: { ...s.config, values: { ...(a.replace ? {} : s.config.values), ...a.config } } } : s,
});

// Terminals.

function exited(s: any, exitCode: number | undefined) {
  return set({ ...s, lifecycle: set({ status: "exited" }, "exitCode", exitCode) }, "exitCode", exitCode);
}

function output(s: any, data: string) {
  const content = [...(s.content ?? [])];
  const last = content.at(-1);
  if (last?.type === "command" && !last.isComplete) content[content.length - 1] = { ...last, output: last.output + data };
  else if (last?.type === "unclassified") content[content.length - 1] = { ...last, value: last.value + data };
  else content.push({ type: "unclassified", value: data });
  return { ...s, content };
}

export const reduceTerminal = reducer<any>({
  "terminal/data": (s, a) => output(s, a.data),
  "terminal/resized": (s, a) => ({ ...s, cols: a.cols, rows: a.rows }),
  "terminal/claimed": (s, a) => ({ ...s, claim: a.claim }),
  "terminal/titleChanged": (s, a) => ({ ...s, title: a.title }),
  "terminal/cwdChanged": (s, a) => ({ ...s, cwd: a.cwd }),
  "terminal/exited": (s, a) => exited(s, a.exitCode),
  "terminal/cleared": (s) => ({ ...s, content: [] }),
  "terminal/commandDetectionAvailable": (s) => ({ ...s, supportsCommandDetection: true }),
  "terminal/commandExecuted": (s, a) => ({
    ...s,
    supportsCommandDetection: true,
    content: [
      ...(s.content ?? []),
      { type: "command", commandId: a.commandId, commandLine: a.commandLine, output: "", timestamp: a.timestamp, isComplete: false },
    ],
  }),
  "terminal/commandFinished": (s, a) => ({
    ...s,
    content: (s.content ?? []).map((p: any) =>
      p.type === "command" && p.commandId === a.commandId
        ? set(set({ ...p, isComplete: true }, "exitCode", a.exitCode), "durationMs", a.durationMs)
        : p,
    ),
  }),
});

// What calls for people, and layouts.

function row(map: Record<string, any> | undefined, k: string, v: unknown) {
  const next = { ...map };
  delete next[k];
  if (v) next[k] = v;
  return next;
}

export const reduceActivity = reducer<any>({
  "x-tandemux/attentionChanged": (s, a) => ({ ...s, terminals: row(s.terminals, a.terminal, a.attention) }),
  "x-tandemux/terminalSeen": (s, a) => ({
    ...s,
    terminals: row(s.terminals, a.terminal, { ...s.terminals?.[a.terminal], seen: a.at }),
  }),
  "x-tandemux/agentsRefused": (s, a) => set(s, "refusals", a.refusals?.length ? a.refusals : undefined),
  "x-tandemux/hostWarned": (s, a) => set(s, "warning", a.warning),
  "x-tandemux/layoutWatched": (s, a) => ({ ...s, layouts: row(s.layouts, a.layout, a.clients) }),
});

export const reduceLayout = reducer<any>({
  "x-tandemux/layoutChanged": (s, a) =>
    a.rev === (s.rev ?? 0) + 1 ? { rev: a.rev, doc: a.doc, terminals: a.terminals ?? [] } : s,
});

// Sessions.

/** Of a session's or chat's status: one activity, and flags. */
export const status = { idle: 1, error: 2, inProgress: 8, inputNeeded: 24, read: 32, archived: 64, activity: 31 };

export const needsInput = (s: number) => (s & status.inputNeeded) === status.inputNeeded;

const flag = (s: any, bit: number, on: boolean) => ({ ...s, status: on ? s.status | bit : s.status & ~bit });
const activity = (s: any, a: number) => ({ ...s, status: (s.status & ~status.activity) | a });

function merged(summary: any, changes: Record<string, unknown>) {
  let next = summary;
  for (const [k, v] of Object.entries(changes ?? {})) if (k !== "resource") next = v === null ? without(next, k) : { ...next, [k]: v };
  return next;
}

function reordered(chats: any[], named: string[], to: any) {
  const block = [...new Set(named)].map((uri) => chats.find((c) => c.resource === uri)).filter(Boolean);
  const rest = chats.filter((c) => !named.includes(c.resource));
  const word = typeof to === "string" ? to : to?.before ? "before" : to?.after ? "after" : to?.kind;
  const anchor = to?.before || to?.after || to?.chat;
  const i = rest.findIndex((c) => c.resource === anchor);
  const at = word === "start" ? 0 : word === "before" && i >= 0 ? i : word === "after" && i >= 0 ? i + 1 : rest.length;
  return [...rest.slice(0, at), ...block, ...rest.slice(at)];
}

/** customized changes the customization of an id, at the top or within a container. */
function customized(list: any[] | undefined, id: string, change: (c: any) => any): any[] | undefined {
  for (const [i, c] of (list ?? []).entries()) {
    let by: any;
    if (c.id === id && id) by = change(c);
    else {
      const children = customized(c.children, id, change);
      if (!children) continue;
      by = { ...c, children };
    }
    return by === undefined ? list!.toSpliced(i, 1) : list!.with(i, by);
  }
  return undefined;
}

function mcp(s: any, id: string, changes: any) {
  const list = customized(s.customizations, id, (c) => (c.type === "mcpServer" ? merged(c, changes) : c));
  return list ? { ...s, customizations: list } : s;
}

function inputNeeded(s: any, request: any) {
  s = { ...s, inputNeeded: upsert<any>(s.inputNeeded, request, (n) => n.id === request.id) };
  return s.inputNeeded.some((n: any) => n.kind !== "toolClientExecution") ? activity(s, status.inputNeeded) : s;
}

function inputGone(s: any, id: string) {
  const had = s.inputNeeded?.length > 0;
  s = removed(s, "inputNeeded", (n) => n.id === id);
  return had && !s.inputNeeded ? { ...s, status: s.status & ~(status.inputNeeded & ~status.inProgress) } : s;
}

function replacedDirectory(s: any, old: string, by: string) {
  const rest = (s.workingDirectories ?? []).filter((d: string) => d !== by || by === old);
  const i = rest.indexOf(old);
  return i < 0 ? s : { ...s, workingDirectories: rest.with(i, by) };
}

export const reduceSession = reducer<any>({
  "session/ready": (s) => ({ ...s, lifecycle: "ready" }),
  "session/creationFailed": (s, a) => ({ ...s, lifecycle: "failed", creationError: a.error }),
  "session/titleChanged": (s, a) => ({ ...s, title: a.title }),
  "session/isReadChanged": (s, a) => flag(s, status.read, a.isRead),
  "session/isArchivedChanged": (s, a) => flag(s, status.archived, a.isArchived),
  "session/activityChanged": (s, a) => set(s, "activity", a.activity),
  "session/changesetsChanged": (s, a) => set(s, "changesets", a.changesets),
  "session/serverToolsChanged": (s, a) => ({ ...s, serverTools: a.tools ?? [] }),
  "session/metaChanged": (s, a) => set(s, "_meta", a._meta),
  "session/configChanged": (s, a) =>
    s.config ? { ...s, config: { ...s.config, values: { ...(a.replace ? {} : s.config.values), ...a.config } } } : s,
  "session/activeClientSet": (s, a) => ({
    ...s,
    activeClients: upsert<any>(s.activeClients, a.activeClient, (c) => c.clientId === a.activeClient.clientId),
  }),
  "session/activeClientRemoved": (s, a) => {
    const next = removed(s, "activeClients", (c) => c.clientId === a.clientId);
    return next.activeClients ? next : { ...next, activeClients: [] };
  },
  "session/workingDirectorySet": (s, a) => ({
    ...s,
    workingDirectories: upsert<string>(s.workingDirectories, a.directory, (d) => d === a.directory),
  }),
  "session/workingDirectoryRemoved": (s, a) => removed(s, "workingDirectories", (d) => d === a.directory),
  "session/workingDirectoryReplaced": (s, a) => replacedDirectory(s, a.oldDirectory, a.newDirectory),
  "session/inputNeededSet": (s, a) => inputNeeded(s, a.request),
  "session/inputNeededRemoved": (s, a) => inputGone(s, a.id),
  "session/chatAdded": (s, a) => ({ ...s, chats: upsert<any>(s.chats, a.summary, (c) => c.resource === a.summary.resource) }),
  "session/chatRemoved": (s, a) => {
    if (!s.chats?.some((c: any) => c.resource === a.chat)) return s;
    s = { ...s, chats: s.chats.filter((c: any) => c.resource !== a.chat) };
    return s.defaultChat === a.chat ? without(s, "defaultChat") : s;
  },
  "session/chatUpdated": (s, a) => ({
    ...s,
    chats: (s.chats ?? []).map((c: any) => (c.resource === a.chat ? merged(c, a.changes) : c)),
  }),
  "session/chatsReordered": (s, a) => ({ ...s, chats: reordered(s.chats ?? [], a.chats ?? [], a.destination) }),
  "session/defaultChatChanged": (s, a) => set(s, "defaultChat", a.defaultChat),
  "session/customizationsChanged": (s, a) => ({ ...s, customizations: a.customizations ?? [] }),
  "session/customizationUpdated": (s, a) => ({
    ...s,
    customizations:
      customized(s.customizations, a.customization.id, () => a.customization) ?? [...(s.customizations ?? []), a.customization],
  }),
  "session/customizationRemoved": (s, a) => ({ ...s, customizations: customized(s.customizations, a.id, () => undefined) ?? s.customizations }),
  "session/customizationToggled": (s, a) => {
    const with_: any = {};
    if (a.enabled !== undefined) with_.enabled = a.enabled;
    if (a.enablement) with_.enablement = a.enablement;
    return { ...s, customizations: customized(s.customizations, a.id, (c) => merged(c, with_)) ?? s.customizations };
  },
  "session/mcpServerStateChanged": (s, a) => mcp(s, a.id, { state: a.state, channel: a.channel ?? null }),
  "session/mcpServerStartRequested": (s, a) => mcp(s, a.id, { state: { kind: "starting" } }),
  "session/mcpServerStopRequested": (s, a) => mcp(s, a.id, { state: { kind: "stopped" } }),
});

// Chats.

const over = (c: ahp.ToolCall) => c.status === "completed" || c.status === "cancelled";

export const waits = (c: ahp.ToolCall) =>
  c.status === "pending-confirmation" || c.status === "pending-result-confirmation" || c.status === "auth-required";

/** current is the state with the status that follows from what goes on. */
function current(s: any) {
  const parts: any[] = s.activeTurn?.responseParts ?? [];
  const waiting = parts.some((p) => (p.kind === "inputRequest" && !p.response) || (p.toolCall && waits(p.toolCall)));
  return activity(s, !s.activeTurn ? status.idle : waiting ? status.inputNeeded : status.inProgress);
}

function inTurn(s: any, id: string, change: (t: any) => any) {
  return s.activeTurn?.id === id ? { ...s, activeTurn: change(s.activeTurn) } : s;
}

const addPart = (t: any, part: any) => ({ ...t, responseParts: [...(t.responseParts ?? []), part] });

function addText(s: any, a: any, kind: string) {
  return inTurn(s, a.turnId, (t) => {
    const i = t.responseParts.findIndex((p: any) => (p.toolCall?.toolCallId ?? p.id) === a.partId);
    const p = t.responseParts[i];
    return p?.kind === kind ? { ...t, responseParts: t.responseParts.with(i, { ...p, content: p.content + a.content }) } : t;
  });
}

function startTurn(s: any, a: any) {
  if (s.activeTurn?.id === a.turnId) return s; // it has begun already
  const turn = set({ id: a.turnId, message: a.message, responseParts: [] }, "startedAt", a.startedAt);
  s = { ...s, activeTurn: turn };
  if (a.queuedMessageId) {
    if (s.steeringMessage?.id === a.queuedMessageId) s = without(s, "steeringMessage");
    s = removed(s, "queuedMessages", (m) => m.id === a.queuedMessageId);
  }
  s = flag(current(s), status.read, false);
  return a.startedAt ? { ...s, modifiedAt: a.startedAt } : s;
}

function endTurn(s: any, a: any, state: string, failure?: any) {
  if (s.activeTurn?.id !== a.turnId) return s;
  let t = { ...s.activeTurn, state };
  t.responseParts = (t.responseParts ?? []).map((p: any) => (p.toolCall && !over(p.toolCall) ? { ...p, toolCall: skipped(p.toolCall) } : p));
  if (failure) t.responseParts.push(failure);
  let ended: string | undefined;
  if (typeof a.duration === "number") {
    t.duration = Math.max(0, a.duration);
    if (t.startedAt) ended = new Date(Date.parse(t.startedAt) + t.duration).toISOString();
  }
  s = current({ ...without(s, "activeTurn"), turns: [...(s.turns ?? []), t] });
  if (state === "error") s = activity(s, status.error);
  return ended ? { ...s, modifiedAt: ended } : s;
}

export function resumable(s: any, turnId: string): boolean {
  const t = s.turns?.at(-1);
  const p = t?.responseParts?.at(-1);
  return !s.activeTurn && t?.id === turnId && t.state === "error" && p?.kind === "error" && !!p.resumable;
}

function resumeTurn(s: any, a: any) {
  if (!resumable(s, a.turnId)) return s;
  const t = s.turns.at(-1);
  const activeTurn = { ...without(t, "state", "duration"), responseParts: t.responseParts.slice(0, -1) };
  return flag(current({ ...s, turns: s.turns.slice(0, -1), activeTurn }), status.read, false);
}

function truncated(s: any, a: any) {
  let keep = 0;
  if (a.turnId) {
    keep = s.turns.findIndex((t: any) => t.id === a.turnId) + 1;
    if (!keep) return s;
  } else s = without(s, "turnsNextCursor");
  return current({ ...without(s, "activeTurn"), turns: s.turns.slice(0, keep) });
}

function pending(s: any, a: any) {
  const m = { id: a.id, message: a.message };
  if (a.kind === "steering") return { ...s, steeringMessage: m };
  return { ...s, queuedMessages: upsert<any>(s.queuedMessages, m, (q) => q.id === a.id) };
}

function pendingGone(s: any, a: any) {
  if (a.kind !== "steering") return removed(s, "queuedMessages", (q) => q.id === a.id);
  return s.steeringMessage?.id === a.id ? without(s, "steeringMessage") : s;
}

function queueReordered(s: any, order: string[]) {
  const at = (m: any) => (order.includes(m.id) ? order.indexOf(m.id) : order.length);
  return s.queuedMessages ? { ...s, queuedMessages: s.queuedMessages.toSorted((a: any, b: any) => at(a) - at(b)) } : s;
}

const openRequest = (t: any, id: string) =>
  (t?.responseParts ?? []).findIndex((p: any) => p.kind === "inputRequest" && !p.response && p.request?.id === id);

function requested(s: any, request: any) {
  if (!s.activeTurn) return s;
  const t = s.activeTurn;
  const i = openRequest(t, request.id);
  const had = t.responseParts[i]?.request;
  const part = { kind: "inputRequest", request: !request.answers && had?.answers ? { ...request, answers: had.answers } : request };
  const activeTurn = i < 0 ? addPart(t, part) : { ...t, responseParts: t.responseParts.with(i, part) };
  return flag(current({ ...s, activeTurn }), status.read, false);
}

function answering(s: any, id: string, change: (part: any) => any) {
  const i = openRequest(s.activeTurn, id);
  if (i < 0) return s;
  const t = s.activeTurn;
  return current({ ...s, activeTurn: { ...t, responseParts: t.responseParts.with(i, change(t.responseParts[i])) } });
}

function answered(part: any, a: any) {
  const answers = { ...part.request.answers };
  if (a.answer === undefined || a.answer === null) delete answers[a.questionId];
  else answers[a.questionId] = a.answer;
  return { ...part, request: set(part.request, "answers", Object.keys(answers).length ? answers : undefined) };
}

function completed(part: any, a: any) {
  const given = a.answers && Object.keys(a.answers).length;
  return { ...part, response: a.response, request: given ? { ...part.request, answers: { ...part.request.answers, ...a.answers } } : part.request };
}

const member = (name: string) => (s: any, a: any) => set(s, name, a[name]);

const chats: Table<any> = {
  "chat/turnStarted": startTurn,
  "chat/responsePart": (s, a) => inTurn(s, a.turnId, (t) => (a.part.kind === "error" ? t : addPart(t, a.part))),
  "chat/delta": (s, a) => addText(s, a, "markdown"),
  "chat/reasoning": (s, a) => addText(s, a, "reasoning"),
  "chat/usage": (s, a) => inTurn(s, a.turnId, (t) => ({ ...t, usage: a.usage })),
  "chat/turnComplete": (s, a) => endTurn(s, a, "complete"),
  "chat/turnCancelled": (s, a) => endTurn(s, a, "cancelled"),
  "chat/error": (s, a) => endTurn(s, a, "error", a.part ?? { kind: "error", error: a.error }),
  "chat/turnResume": resumeTurn,
  "chat/truncated": truncated,
  "chat/turnsLoaded": (s, a) => {
    const have = new Set(s.turns.map((t: any) => t.id));
    return set({ ...s, turns: [...(a.turns ?? []).filter((t: any) => !have.has(t.id)), ...s.turns] }, "turnsNextCursor", a.turnsNextCursor);
  },
  "chat/inputRequested": (s, a) => requested(s, a.request),
  "chat/inputAnswerChanged": (s, a) => answering(s, a.requestId, (p) => answered(p, a)),
  "chat/inputCompleted": (s, a) => answering(s, a.requestId, (p) => completed(p, a)),
  "chat/pendingMessageSet": pending,
  "chat/pendingMessageRemoved": pendingGone,
  "chat/queuedMessagesReordered": (s, a) => queueReordered(s, a.order ?? []),
  "chat/draftChanged": member("draft"),
  "chat/isReadChanged": (s, a) => flag(s, status.read, a.isRead),
  "chat/isArchivedChanged": (s, a) => flag(s, status.archived, a.isArchived),
  "chat/activityChanged": member("activity"),
  "chat/movableChanged": member("movable"),
  "chat/changesetsChanged": member("changesets"),
  "chat/backgroundWorkSet": (s, a) => ({ ...s, backgroundWork: upsert<any>(s.backgroundWork, a.work, (w) => w.id === a.work.id) }),
  "chat/backgroundWorkRemoved": (s, a) => removed(s, "backgroundWork", (w) => w.id === a.id),
  "chat/workingDirectorySet": (s, a) => ({
    ...s,
    workingDirectories: upsert<string>(s.workingDirectories, a.directory, (d) => d === a.directory),
  }),
  "chat/workingDirectoryRemoved": (s, a) => removed(s, "workingDirectories", (d) => d === a.directory),
  "chat/toolCallStart": (s, a) =>
    inTurn(s, a.turnId, (t) =>
      addPart(t, { kind: "toolCall", toolCall: { ...pick(a, "toolCallId", "toolName", "displayName", ...kept), status: "streaming" } }),
    ),
};

// Tool calls. What one keeps in every state, and what it was called with.

const kept = ["intention", "contributor", "_meta"];

function pick(o: any, ...names: string[]) {
  const next: any = {};
  for (const n of names) if (o[n] !== undefined && o[n] !== null && o[n] !== "") next[n] = o[n];
  return next;
}

const head = (t: any, state: string) => ({ ...pick(t, "toolCallId", ...kept), toolName: t.toolName ?? "", displayName: t.displayName ?? "", status: state });
const invoked = (t: any, state: string) => ({ ...head(t, state), invocationMessage: t.invocationMessage ?? "", ...pick(t, "toolInput") });

function skipped(t: any) {
  return { ...(t.status === "streaming" ? without(invoked(t, "cancelled"), "toolInput") : invoked(t, "cancelled")), reason: "skipped" };
}

function ready(t: any, a: any) {
  if (!["streaming", "running", "pending-confirmation"].includes(t.status)) return undefined;
  const as = { ...t, ...pick(a, "contributor", "intention"), invocationMessage: a.invocationMessage };
  if (a.toolInput !== undefined && a.toolInput !== null) as.toolInput = a.toolInput;
  else if (t.status === "streaming") delete as.toolInput;
  if (a.confirmed) return { ...invoked(as, "running"), confirmed: a.confirmed, ...pick(a, "startedAt") };
  const question = ["confirmationTitle", "riskAssessment", "edits", "editable", "options"];
  return { ...invoked(as, "pending-confirmation"), ...pick(t, ...question), ...pick(a, ...question) };
}

function confirmed(t: any, a: any) {
  if (t.status !== "pending-confirmation") return undefined;
  const selectedOption = t.options?.find((o: any) => o.id === a.selectedOptionId);
  if (!a.approved)
    return { ...invoked(t, "cancelled"), ...pick(a, "reason", "reasonMessage", "userSuggestion"), ...pick({ selectedOption }, "selectedOption") };
  const n = { ...invoked(t, "running"), ...pick(a, "confirmed", "startedAt"), ...pick({ selectedOption }, "selectedOption") };
  if (typeof a.editedToolInput === "string" && (t.toolInput === undefined || typeof t.toolInput === "string")) n.toolInput = a.editedToolInput;
  return n;
}

function complete(t: any, a: any) {
  const given = t.status === "auth-required" && !a.result.success; // up, without the login
  if (t.status !== "running" && t.status !== "pending-confirmation" && !given) return undefined;
  const n: any = { ...invoked(t, a.requiresResultConfirmation && !given ? "pending-result-confirmation" : "completed"), confirmed: "not-needed", ...pick(a, "duration") };
  if (t.status !== "pending-confirmation") Object.assign(n, { confirmed: t.confirmed }, pick(t, "selectedOption", "startedAt"));
  return { ...n, success: a.result.success, ...pick(a.result, "pastTenseMessage", "content", "structuredContent", "error") };
}

const running = (change: (t: any, a: any) => any) => (t: any, a: any) => (t.status === "running" ? change(t, a) : undefined);

const toolCalls: Record<string, (t: any, a: any) => any> = {
  "chat/toolCallDelta": (t, a) =>
    t.status === "streaming" ? { ...t, partialInput: (t.partialInput ?? "") + a.content, ...pick(a, "invocationMessage") } : undefined,
  "chat/toolCallReady": ready,
  "chat/toolCallConfirmed": confirmed,
  "chat/toolCallContentChanged": running((t, a) => ({ ...t, content: a.content })),
  "chat/toolCallProgress": running((t, a) => ({ ...t, progress: pick(a, "elapsedMs", "message") })),
  "chat/toolCallComplete": complete,
  "chat/toolCallResultConfirmed": (t, a) =>
    t.status !== "pending-result-confirmation"
      ? undefined
      : a.approved
        ? { ...t, status: "completed" }
        : { ...invoked(t, "cancelled"), reason: "result-denied", ...pick(t, "selectedOption") },
  "chat/toolCallAuthRequired": (t, a) =>
    t.status === "running" && t.contributor?.kind === "mcp" ? { ...without(t, "progress"), status: "auth-required", auth: a.auth } : undefined,
  "chat/toolCallAuthResolved": (t) => (t.status === "auth-required" ? { ...without(t, "auth"), status: "running" } : undefined),
};

export function reduceChat(s: any, a: Action): any {
  if (!Object.hasOwn(toolCalls, a.type)) return reducer(chats)(s, a);
  const parts: any[] = s.activeTurn?.id === a.turnId ? s.activeTurn.responseParts : [];
  const i = parts.findIndex((p) => p.toolCall?.toolCallId === a.toolCallId);
  let next = i < 0 ? undefined : toolCalls[a.type](parts[i].toolCall, a);
  if (!next) return s;
  if (a._meta) next = { ...next, _meta: a._meta };
  return current(inTurn(s, a.turnId, (t) => ({ ...t, responseParts: parts.with(i, { ...parts[i], toolCall: next }) })));
}

/** reducers are all, by the kind of channel. */
export const reducers: Record<string, (s: any, a: Action) => any> = {
  root: reduceRoot,
  terminal: reduceTerminal,
  session: reduceSession,
  chat: reduceChat,
  layout: reduceLayout,
  activity: reduceActivity,
};
