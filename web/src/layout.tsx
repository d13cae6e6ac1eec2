// A layout: its tabs, and the tree of panes of one. It is the document that the terminal
// interface shows and changes; here it is changed by the same commands, which the host runs.
import { useLayoutEffect, useState } from "preact/hooks";
import type { Store } from "./store";
import { layoutURI } from "./store";
import { nameOf, TerminalView } from "./terminal";
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
  return chat(pane?.terminal) ? "chat" : nameOf(store.terminal(pane?.terminal ?? ""));
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
  const tabs = doc?.tabs ?? [];
  const tab = tabs.find((t) => t.id === chosen) ?? tabs[doc?.active ?? 0] ?? tabs[0];
  const panes = tab ? [...leaves(tab.root), ...(tab.floats ?? [])] : [];
  const pane = panes.some((p) => p.pane === focus) ? focus : tab?.focus;

  const run = async (command: string, at?: string) => {
    const had = new Set(tabs.map((t) => t.id));
    const r = await store.command(name, command, [], at ? { pane: at } : {});
    if (r?.tab && !had.has(r.tab)) setChosen(r.tab);
    if (r?.made && r.pane) setFocus(r.pane);
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

  const leaf = (p: Node) =>
    chat(p.terminal) ? (
      <Chat key={p.pane} store={store} uri={p.terminal!} />
    ) : (
      <TerminalView key={p.pane} store={store} uri={p.terminal!} name={p.name} phone={false} focus={p.pane === pane} onFocus={() => setFocus(p.pane)} extra={tools(p)} />
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
            {c.name ? line(c.name) : chat(c.terminal) ? "chat" : nameOf(store.terminal(c.terminal ?? ""))}
          </button>
        ),
      )}
    </div>
  );

  const node = (n: Node, level = 0): preact.ComponentChildren =>
    level > depth ? null : n.pane ? (
      leaf(n)
    ) : n.stack ? (
      stack(n)
    ) : (
      <div class={"split " + (n.axis === "row" ? "across" : "down")}>
        {(n.children ?? []).map((c, i) => (
          <div key={leaves(c)[0]?.pane} class="cell" style={{ flexGrow: n.weights?.[i] ?? 1 }}>
            {node(c, level + 1)}
          </div>
        ))}
      </div>
    );

  return (
    <section class="layout" aria-label={"layout " + name}>
      <nav class="tabs" role="tablist">
        {tabs.map((t) => (
          <button key={t.id} role="tab" aria-selected={t === tab} onClick={() => setChosen(t.id)}>
            {title(store, t)}
          </button>
        ))}
        <button aria-label="new tab" title="new tab" onClick={() => run("new-tab")}>
          +
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
