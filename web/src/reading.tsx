// A terminal to be read: its commands, each folded to its line, how it ended and how long
// it took.
import { useEffect, useRef, useState } from "preact/hooks";
import type * as ahp from "./types";
import { copyOutput, runAgain } from "./commands";
import { told } from "./marks";
import type { Store } from "./store";
import { commandOf, endOf, nameOf } from "./terminal";
import { ago, line, shown } from "./text";

/** most show at first, the newest. */
const most = 100;

const known = (c: ahp.CommandInfo) => ({ id: c.commandId, line: c.commandLine, done: !c.running, exit: c.exitCode, ms: c.durationMs });

interface Props {
  store: Store;
  uri: string;
  /** The command that is unfolded at first. */
  first?: string;
  back: () => void;
}

export function Reading({ store, uri, first, back }: Props) {
  const [all, setAll] = useState<ahp.CommandInfo[]>();
  const [limit, setLimit] = useState(most);
  const t = store.terminal(uri);
  const newest = `${commandOf(t!)?.commandId} ${endOf(t)}`;
  useEffect(() => {
    void store.call("x-tandemux/commands", { channel: uri, limit }).then((r) => r && setAll(r.items));
  }, [uri, newest, limit]);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!first) end.current?.scrollIntoView();
  }, [all?.length]);
  return (
    <section class="reading" aria-label={"commands of " + nameOf(t)}>
      <header>
        <button onClick={back}>‹ terminal</button>
        <b>{nameOf(t)}</b>
      </header>
      <div class="commands">
        {all && all.length >= limit && <button onClick={() => setLimit(limit * 10)}>older ones</button>}
        {all?.map((c) => (
          <Entry key={c.commandId} store={store} uri={uri} c={c} open={c.commandId === first} />
        ))}
        {all && !all.length && <p class="empty">No command that is known ran here: the shell does not mark them.</p>}
        <div ref={end} />
      </div>
    </section>
  );
}

function Entry({ store, uri, c, open }: { store: Store; uri: string; c: ahp.CommandInfo; open: boolean }) {
  const [unfolded, setUnfolded] = useState(open);
  const [result, setResult] = useState<ahp.CommandInfo & { output: string; omitted?: number; tail?: string }>();
  const how = known(c);
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (open) box.current?.scrollIntoView();
  }, [open && !!result]);
  useEffect(() => {
    if (unfolded) void store.call("x-tandemux/command", { channel: uri, id: c.commandId }).then((r) => r && setResult(r));
  }, [unfolded, c.running, c.bytes]);
  return (
    <details open={unfolded} class={how.exit ? "failed" : ""} onToggle={(e: Event) => setUnfolded((e.target as HTMLDetailsElement).open)} ref={box}>
      <summary>
        <code>{line(c.commandLine)}</code> <span class={how.exit ? "warn" : "dim"}>{told(how)}</span> <time>{ago(c.timestamp)}</time>
      </summary>
      {result && (
        <>
          <pre tabIndex={0}>
            {shown(result.output)}
            {!!result.omitted && <i>{`\n… ${result.omitted} bytes are not kept …\n`}</i>}
            {shown(result.tail ?? "")}
          </pre>
          <div class="answers">
            <button onClick={() => void copyOutput(store, uri, c.commandId)}>Copy output</button>
            <button onClick={() => store.copy(c.commandLine)}>Copy line</button>
            <button onClick={() => (runAgain(store, uri, c.commandLine), store.ui?.open({ kind: "terminal", uri }))}>Run again</button>
          </div>
        </>
      )}
    </details>
  );
}
