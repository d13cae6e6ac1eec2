// A layout: its tabs, and the tree of panes of one. It is the document that the terminal
// interface shows and changes; here it is changed by the same commands, which the host runs.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { run as runCommand } from "./commands";
import { change, command as order } from "./make";
import type { Store } from "./store";
import { layoutURI } from "./store";
import { nameAt, TerminalView } from "./terminal";
import { Chat } from "./chat";
import { line } from "./text";

interface Node {
  pane?: string;
  terminal?: string;
  name?: string;
  axis?: "row" | "column";
  children?: Node[];
  weights?: number[];
  /** Of a column's panes one is open, and the others are their headers. */
  stack?: boolean;
  place?: number[];
}

interface Tab {
  id: string;
  name?: string;
  root: Node;
  floats?: Node[];
  hidden?: boolean;
  focus?: string;
  recent?: string[];
  zoom?: boolean;
}

export interface Doc {
  /** What a layout without tabs is called now. */
  renamed?: string;
  active?: number;
  tabs: Tab[];
}

const whole = 10_000; // of a float's place: layout.Whole
const depth = 32;

const leaves = (n?: Node, level = 0): Node[] => (!n || level > depth ? [] : n.pane ? [n] : (n.children ?? []).flatMap((c) => leaves(c, level + 1)));

const chat = (uri?: string) => !!uri?.startsWith("ahp-chat:");

/** title is what a tab is called: its name, or what its pane with the focus shows. */
export function title(store: Store, tab: Tab): string {
  const all = [...leaves(tab.root), ...(tab.floats ?? [])];
  const pane = all.find((p) => p.pane === tab.focus) ?? all[0];
  if (tab.name || pane?.name) return line(tab.name || pane!.name!);
  return chat(pane?.terminal) ? "chat" : nameAt(store, pane?.terminal);
}

interface Props {
  store: Store;
  name: string;
}

export function Layout({ store, name }: Props) {
  const uri = layoutURI(name);
  useLayoutEffect(() => store.follow(uri), [uri]);
  const doc: Doc | null = store.get<any>(uri)?.doc ?? null;
  const [chosen, setChosen] = useState<string>();
  const [focus, setFocus] = useState<string>();
  useLayoutEffect(() => {
    if (doc?.renamed) store.ui?.layout(doc.renamed);
  }, [doc?.renamed]);
  const tabs = doc?.tabs ?? [];
  const tab = tabs.find((t) => t.id === chosen) ?? tabs[doc?.active ?? 0] ?? tabs[0];
  const panes = tab ? [...leaves(tab.root), ...(tab.floats ?? [])] : [];
  const pane = panes.some((p) => p.pane === focus) ? focus : tab?.focus;

  // What commands act on, and what they may do here.
  useLayoutEffect(() => {
    const shown = panes.map((p) => ({ pane: p.pane!, terminal: p.terminal }));
    const terminal = panes.find((p) => p.pane === pane)?.terminal;
    store.active = terminal && !chat(terminal) ? terminal : undefined;
    if (store.copying && store.copying.uri !== store.active) store.endCopying();
    if (store.desk?.pane !== pane && store.desk?.pane) store.lastPane = store.desk.pane;
    if (store.desk?.tab !== tab?.id && store.desk?.tab) store.lastTab = store.desk.tab;
    store.desk = { name, tabs: tabs.map((t) => t.id), tab: tab?.id, pane, panes: shown, focus: setFocus, show: setChosen };
  });
  useLayoutEffect(
    () => () => {
      store.desk = store.active = store.lastPane = store.lastTab = undefined;
    },
    [name],
  );

  const run = (command: string, at = pane) => void (store.desk && change(store, { ...store.desk, pane: at }, command, []));

  /** reweigh gives the children of a split other shares, in the document that all see. */
  const reweigh = (path: number[], weights: number[]) => {
    const state = store.get<any>(uri);
    if (!state?.doc || !tab) return;
    const fresh = JSON.parse(JSON.stringify(state.doc)) as Doc;
    let n: Node | undefined = fresh.tabs.find((t) => t.id === tab.id)?.root;
    for (const i of path) n = n?.children?.[i];
    if (n?.children?.length !== weights.length) return; // it was changed meanwhile
    n.weights = weights;
    store.send(uri, { type: "x-tandemux/layoutChanged", rev: (state.rev ?? 0) + 1, doc: fresh, terminals: state.terminals ?? [] }).catch(() => {});
  };

  const tools = (p: Node) => (
    <>
      <button title="split to the right" aria-label="split to the right" onClick={() => run("split-right", p.pane)}>
        ◫
      </button>
      <button title="split below" aria-label="split below" onClick={() => run("split-down", p.pane)}>
        ⬓
      </button>
      <button title="close" aria-label="close pane" onClick={() => run("close-pane", p.pane)}>
        ×
      </button>
    </>
  );

  const rename = (what: "tab" | "pane", id: string | undefined, now: string) =>
    store.ask({ text: `Rename this ${what}`, field: "name", value: now, yes: "Rename", do: (text) => void order(store, name, "rename-" + what, [text ?? ""], { pane: id }) });

  const leaf = (p: Node) => (
    <div class="leaf" key={p.pane} data-pane={p.pane} onFocusCapture={() => chat(p.terminal) && setFocus(p.pane)}>
      {chat(p.terminal) ? (
        <Chat store={store} uri={p.terminal!} />
      ) : (
        <TerminalView
          store={store}
          uri={p.terminal!}
          name={p.name}
          phone={false}
          focus={p.pane === pane}
          onFocus={() => setFocus(p.pane)}
          onRename={() => rename("pane", p.pane, p.name ?? "")}
          extra={tools(p)}
        />
      )}
    </div>
  );

  /** opened is the pane of a stack that was focused last. */
  const opened = (n: Node) => {
    const kids = n.children ?? [];
    for (const id of [pane, tab?.focus, ...(tab?.recent ?? [])]) {
      const kid = kids.find((c) => c.pane === id);
      if (kid) return kid;
    }
    return kids[0];
  };

  const stack = (n: Node) => (
    <div class="split down">
      {(n.children ?? []).map((c) =>
        c === opened(n) ? (
          <div key={c.pane} class="cell">
            {leaf(c)}
          </div>
        ) : (
          <button key={c.pane} class="folded" onClick={() => setFocus(c.pane)}>
            {c.name ? line(c.name) : chat(c.terminal) ? "chat" : nameAt(store, c.terminal)}
          </button>
        ),
      )}
    </div>
  );

  const node = (n: Node, level = 0, path: number[] = []): preact.ComponentChildren =>
    level > depth ? null : n.pane ? (
      leaf(n)
    ) : n.stack ? (
      stack(n)
    ) : (
      <Split axis={n.axis} weights={n.children?.map((_, i) => n.weights?.[i] ?? 1) ?? []} reweigh={(w) => reweigh(path, w)}>
        {(n.children ?? []).map((c, i) => ({ key: leaves(c)[0]?.pane, body: node(c, level + 1, [...path, i]) }))}
      </Split>
    );

  return (
    <section class="layout" aria-label={"layout " + name}>
      <nav class="tabs" role="tablist">
        {tabs.map((t) => (
          <button
            key={t.id}
            role="tab"
            aria-selected={t === tab}
            title="twice: rename"
            onClick={() => setChosen(t.id)}
            onDblClick={() => rename("tab", t.focus ?? leaves(t.root)[0]?.pane, t.name ?? "")}
          >
            {title(store, t)}
          </button>
        ))}
        <button aria-label="new tab" title="new tab" onClick={() => run("new-tab")}>
          +
        </button>
        <button class="last" aria-label="command palette" title={"command palette " + (store.setup?.keys.find((b) => b.command === "palette")?.keys ?? "")} onClick={() => runCommand(store, "palette")}>
          ⌘
        </button>
      </nav>
      <div class="panes">
        {!tab && <p class="empty">No tab is open: + opens one.</p>}
        {tab && (tab.zoom ? leaf(panes.find((p) => p.pane === pane) ?? panes[0]) : node(tab.root))}
        {tab &&
          !tab.zoom &&
          !tab.hidden &&
          (tab.floats ?? []).map((f) => {
            const [x, y, w, h] = (f.place ?? [1000, 1000, 8000, 8000]).map((v) => (v / whole) * 100 + "%");
            return (
              <div key={f.pane} class="float" style={{ left: x, top: y, width: w, height: h }}>
                {leaf(f)}
              </div>
            );
          })}
      </div>
    </section>
  );
}

interface SplitProps {
  axis?: "row" | "column";
  weights: number[];
  reweigh: (weights: number[]) => void;
  children: { key?: string; body: preact.ComponentChildren }[];
}

/** Split has children beside or above each other, and borders that can be moved. */
function Split({ axis, weights, reweigh, children }: SplitProps) {
  const box = useRef<HTMLDivElement>(null);
  const [moved, setMoved] = useState<number[]>();
  const across = axis === "row";
  useLayoutEffect(() => setMoved(undefined), [weights.join()]);
  const now = moved ?? weights;

  /** sizes are those of the children, in pixels. */
  const sizes = () => [...box.current!.querySelectorAll(":scope > .cell")].map((e) => Math.max(1, Math.round(across ? e.clientWidth : e.clientHeight)));
  const least = across ? 60 : 50;
  /** by moves the border behind child i. */
  const by = (had: number[], i: number, px: number) => {
    const d = Math.max(least - had[i], Math.min(had[i + 1] - least, px));
    return had.with(i, Math.max(1, had[i] + d)).with(i + 1, Math.max(1, had[i + 1] - d));
  };
  const grab = (e: PointerEvent, i: number) => {
    const bar = e.currentTarget as HTMLElement;
    const had = sizes();
    const from = across ? e.clientX : e.clientY;
    let last = had;
    bar.setPointerCapture(e.pointerId);
    bar.onpointermove = (m) => setMoved((last = by(had, i, (across ? m.clientX : m.clientY) - from)));
    bar.onpointerup = bar.onpointercancel = () => {
      bar.onpointermove = bar.onpointerup = bar.onpointercancel = null;
      if (last !== had) reweigh(last);
    };
    e.preventDefault();
  };
  const nudge = (e: KeyboardEvent, i: number) => {
    const step = ({ ArrowLeft: across && -1, ArrowRight: across && 1, ArrowUp: !across && -1, ArrowDown: !across && 1 } as Record<string, number | false>)[e.key];
    if (!step) return;
    e.preventDefault();
    reweigh(by(sizes(), i, step * (across ? 16 : 18)));
  };
  return (
    <div class={"split " + (across ? "across" : "down")} ref={box}>
      {children.map((c, i) => (
        <>
          <div key={c.key} class="cell" style={{ flexGrow: now[i] }}>
            {c.body}
          </div>
          {i + 1 < children.length && (
            <div
              key={c.key + "|"}
              class="border"
              role="separator"
              tabIndex={0}
              aria-label="border; arrows move it"
              aria-orientation={across ? "vertical" : "horizontal"}
              aria-valuenow={Math.round((100 * now[i]) / (now[i] + now[i + 1]))}
              onPointerDown={(e: PointerEvent) => grab(e, i)}
              onKeyDown={(e: KeyboardEvent) => nudge(e, i)}
            />
          )}
        </>
      ))}
    </div>
  );
}
