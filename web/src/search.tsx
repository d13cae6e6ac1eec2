// What is kept of all terminals of all hosts: lines of them, and the commands that ran.
import { useEffect, useState } from "preact/hooks";
import { hostOf, prefixed } from "./names";
import type { Store } from "./store";
import { nameAt } from "./terminal";
import { ago, line, shown } from "./text";

/** most is how many are asked of each host. */
const most = 200;
/** A host that has not answered until then is named, and what the others say is shown. */
const patience = 5000;

interface Hit {
  terminal: string;
  /** A line of the terminal's. */
  text?: string;
  /** A command. */
  commandId?: string;
  commandLine?: string;
  timestamp?: number;
  exitCode?: number;
  name?: string;
}

interface Found {
  hits: Hit[];
  missed: string[];
  more: boolean;
}

/** everywhere asks all hosts at once; each tells of its own terminals only. */
async function everywhere(store: Store, method: string, params: object): Promise<Found> {
  const found: Found = { hits: [], missed: [], more: false };
  const answers = store.hosts.roots.map(async (root) => {
    const late = new Promise((_, no) => setTimeout(() => no(new Error("no answer")), patience));
    try {
      const r: any = await Promise.race([store.invoke(method, { channel: root, limit: most, ...params }), late]);
      found.more ||= !!(r.more || r.partial);
      return (r.items as Hit[]).filter((h) => hostOf(h.terminal) === hostOf(root));
    } catch (e: any) {
      found.missed.push(`${hostOf(root) || "this host"}: ${e.message}`);
      return [];
    }
  });
  found.hits = (await Promise.all(answers)).flat();
  if (method.endsWith("history")) found.hits.sort((a, b) => b.timestamp! - a.timestamp!);
  return found;
}

interface Props {
  store: Store;
  what: "search-all" | "history";
  text: string;
  back: () => void;
}

/** Search shows what was found, and goes there. */
export function Search({ store, what, text, back }: Props) {
  const [asked, ask] = useState(text);
  const [found, take] = useState<Found>();
  const lines = what === "search-all";
  useEffect(() => {
    let off = false;
    take(undefined);
    if (lines && !asked) return;
    const params = lines ? { pattern: asked } : { words: asked.split(/\s+/).filter(Boolean) };
    void everywhere(store, lines ? "x-tandemux/search" : "x-tandemux/history", params).then((r) => off || take(r));
    return () => void (off = true);
  }, [what, asked]);
  const go = (h: Hit) => {
    if (!store.terminal(h.terminal)) return store.say("its terminal is gone", "warning");
    if (!lines) return store.ui?.read(h.terminal, h.commandId);
    store.finding = { uri: h.terminal, back: true, text: h.text!.toLowerCase().includes(asked.toLowerCase()) ? asked : h.text!.trim() };
    store.ui?.open({ kind: "terminal", uri: h.terminal });
  };
  return (
    <section class="reading" aria-label={lines ? "search of all terminals" : "history of all terminals"}>
      <header>
        <button onClick={back}>‹ back</button>
        <input
          type="search"
          aria-label={lines ? "text in all terminals" : "words of commands"}
          placeholder={lines ? "a text, or a regular expression; enter searches" : "words of commands; enter searches"}
          defaultValue={asked}
          ref={(e: HTMLInputElement | null) => {
            if (e && !found) e.focus();
          }}
          onKeyDown={(e: KeyboardEvent) => e.key === "Enter" && ask((e.target as HTMLInputElement).value)}
        />
      </header>
      <div class="list found">
        {found?.missed.map((m) => (
          <p class="warn">not reached: {line(m)}</p>
        ))}
        {found && !found.hits.length && <p class="empty">Nothing was found.</p>}
        {!found && asked && <p class="empty">…</p>}
        {found?.hits.map((h) => (
          <button key={h.terminal + h.commandId + h.text} class={"row" + (h.exitCode ? " task-failed" : "")} onClick={() => go(h)}>
            <code>{shown(h.text ?? h.commandLine ?? "")}</code>
            <span>{h.timestamp ? ago(h.timestamp) : ""}</span>
            <small>{store.terminal(h.terminal) || !h.name ? nameAt(store, h.terminal) : line(prefixed(hostOf(h.terminal), h.name))}</small>
          </button>
        ))}
        {found?.more && <p class="dim">There is more: say more of it.</p>}
      </div>
    </section>
  );
}
