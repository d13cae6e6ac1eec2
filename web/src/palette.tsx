// The palette: all commands that this page can run, with their keys.
import { useEffect, useRef, useState } from "preact/hooks";
import { choices, has, type Known, run } from "./commands";
import type { Store } from "./store";

/** keysOf are those of a command, shortest first. */
function keysOf(store: Store, name: string): string[] {
  const all = (store.setup?.keys ?? []).filter((b) => b.mode === "normal" && b.command === name && !b.args?.length).map((b) => b.keys);
  return all.sort((a, b) => a.length - b.length).slice(0, 2);
}

interface Row {
  text: string;
  name: string;
  args: string[];
  known: Known;
}

/** rows are the commands that have all words of what was typed. */
function rows(store: Store, typed: string): Row[] {
  const all: Row[] = [];
  const [first, ...rest] = typed.trimStart().split(/\s+/);
  for (const known of (store.setup?.commands ?? []).filter(has)) {
    const given = known.name === first && typed.includes(" ");
    if (given && choices[known.name])
      for (const c of choices[known.name](store)) if (c.includes(rest.join(" "))) all.push({ text: known.title + ": " + c, name: known.name, args: [c], known });
    if (given && !choices[known.name]) all.push({ text: known.title, name: known.name, args: rest.filter(Boolean), known });
    else if (!given) {
      const about = (known.name + " " + known.title + " " + known.help).toLowerCase();
      if (typed.toLowerCase().split(/\s+/).every((w) => about.includes(w))) all.push({ text: known.title, name: known.name, args: [], known });
    }
  }
  const rank = (r: Row) => (r.name === first ? 0 : r.text.toLowerCase().startsWith(typed.toLowerCase()) ? 1 : r.text.toLowerCase().includes(typed.toLowerCase()) || r.name.includes(typed) ? 2 : 3);
  return typed ? all.sort((a, b) => rank(a) - rank(b)) : all;
}

export function Palette({ store }: { store: Store }) {
  const [typed, setTyped] = useState(store.listing ?? "");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current!.focus(), []);
  const list = useRef<HTMLUListElement>(null);
  const all = rows(store, typed);
  const chosen = Math.min(at, all.length - 1);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [chosen]);
  const close = () => {
    store.listing = undefined;
    store.refocus();
    store.tell();
  };
  const go = (r?: Row) => {
    if (!r) return;
    close();
    run(store, r.name, r.args);
  };
  return (
    <div class="veil top" onPointerDown={(e: Event) => e.target === e.currentTarget && close()}>
      <div class="dialog palette" role="dialog" aria-modal="true" aria-label="command palette">
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette"
          aria-activedescendant={chosen >= 0 ? "palette-" + chosen : undefined}
          aria-label="command"
          placeholder="command"
          autocomplete="off"
          value={typed}
          ref={input}
          onInput={(e: Event) => (setTyped((e.target as HTMLInputElement).value), setAt(0))}
          onKeyDown={(e: KeyboardEvent) => {
            const step = ({ ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 } as Record<string, number>)[e.key];
            if (step) setAt(Math.max(0, Math.min(all.length - 1, chosen + step)));
            else if (e.key === "Enter") go(all[chosen]);
            else if (e.key === "Escape") close();
            else if (e.key === "Tab") all[chosen] && setTyped(all[chosen].name + " ");
            else return;
            e.preventDefault();
          }}
        />
        <ul id="palette" role="listbox" aria-label="commands" ref={list}>
          {all.map((r, i) => (
            <li key={r.name + r.args} id={"palette-" + i} role="option" aria-selected={i === chosen} onClick={() => go(r)}>
              <b>{r.text}</b>
              <span>
                {keysOf(store, r.name).map((k) => (
                  <kbd>{k}</kbd>
                ))}
              </span>
              <small>
                {r.known.help} <code>{[r.name, ...(r.known.args ?? [])].join(" ")}</code>
              </small>
            </li>
          ))}
          {!all.length && <li class="empty">no such command</li>}
        </ul>
      </div>
    </div>
  );
}

/** Hint shows what can follow the keys that were pressed. */
export function Hint({ store }: { store: Store }) {
  const titles = new Map((store.setup?.commands ?? []).map((c) => [c.name, c]));
  const seen = new Set<string>();
  const all = (store.hint ?? []).filter((b) => {
    const c = titles.get(b.command);
    const k = b.command + b.args;
    return c && has(c) && !seen.has(k) && seen.add(k);
  });
  return (
    <div class="hints" role="status" aria-label="keys that can follow">
      {all.map((b) => (
        <span>
          <kbd>{b.keys.slice(b.keys.lastIndexOf(" ") + 1)}</kbd> {titles.get(b.command)!.title.toLowerCase()} {b.args?.join(" ")}
        </span>
      ))}
    </div>
  );
}
