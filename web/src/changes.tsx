// What a task changed: its files, their hunks, and comments on lines, which the agent is
// given with the next message.
import { useEffect, useState } from "preact/hooks";
import type { Api } from "./api";
import { type FileDiff, type Line, parse } from "./diff";
import type { Store } from "./store";
import { line, prose, shown } from "./text";

interface Annotation {
  id: string;
  resource: string;
  range?: { start: { line: number }; end: { line: number; character: number } };
  resolved?: boolean;
  entries: { id: string; text: unknown; _meta?: Record<string, unknown> }[];
}

/** Beyond this many lines a file is folded. */
const long = 400;

interface Props {
  store: Store;
  /** Of the task's host. */
  api: Api;
  /** The task's path in the interface. */
  at: string;
  session?: string;
}

export function Changes({ store, api, at, session }: Props) {
  const [files, setFiles] = useState<FileDiff[]>();
  const [wrong, setWrong] = useState("");
  const [dir, setDir] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => {
      api.text(at + "/workspace/patch").then(
        (r) => {
          setFiles(parse(r.text));
          setWrong(r.whole ? "" : "The changes are larger than this page shows: the rest is left out.");
        },
        (e) => setWrong(e.message),
      );
      api.get(at + "/workspace").then((w) => setDir(w.dir), () => {});
    }, files ? 500 : 0);
    return () => clearTimeout(timer);
  }, [api.host, at, store.sessions]);
  const notes = session && session + "/annotations";
  useEffect(() => (notes ? store.follow(notes) : undefined), [notes]);
  const all: Annotation[] = (notes && store.get<any>(notes)?.annotations) || [];
  const uri = (path: string) => dir && "file://" + (dir + "/" + path).split("/").map(encodeURIComponent).join("/");
  const total = (files ?? []).flatMap((f) => f.hunks.flatMap((h) => h.lines));
  const count = (kind: string) => total.filter((l) => l.kind === kind).length;
  return (
    <div class="changes">
      {wrong && <p class="warn">{shown(wrong)}</p>}
      {files && !files.length && !wrong && <p class="empty">Nothing was changed.</p>}
      {!!files?.length && (
        <p class="dim">
          {files.length === 1 ? "1 file" : files.length + " files"}, <span class="added">+{count("+")}</span> <span class="gone">−{count("-")}</span>
          {all.some((n) => !n.resolved) && "; comments go with the next message"}
        </p>
      )}
      {files?.map((f) => (
        <File key={f.path} store={store} file={f} resource={f.gone ? undefined : uri(f.path)} channel={notes} notes={all.filter((n) => n.resource === uri(f.path))} />
      ))}
    </div>
  );
}

interface FileProps {
  store: Store;
  file: FileDiff;
  resource?: string;
  channel?: string;
  notes: Annotation[];
}

function File({ store, file, resource, channel, notes }: FileProps) {
  const size = file.hunks.reduce((n, h) => n + h.lines.length, 0);
  const [open, setOpen] = useState(size <= long);
  const comment = (l: Line) => {
    const at = l.now ?? 1;
    store.ask({
      text: `Comment on ${file.path}, line ${at}`,
      field: "comment",
      yes: "Comment",
      do: (text) =>
        text?.trim() &&
        store
          .send(channel!, {
            type: "annotations/set",
            annotation: {
              id: "note-" + crypto.randomUUID(),
              origin: { session: channel!.replace(/\/annotations$/, "") },
              resource,
              range: { start: { line: at - 1, character: 0 }, end: { line: at, character: 0 } },
              resolved: false,
              entries: [{ id: "1", text }],
              _meta: { "tandemux/line": l.text.slice(0, 500) },
            },
          })
          .catch(() => {}),
    });
  };
  const under = (l: Line) => notes.filter((n) => l.now !== undefined && (n.range ? n.range.end.line - (n.range.end.character ? 0 : 1) : 0) === l.now - 1);
  return (
    <details class="file" open={open} onToggle={(e: Event) => setOpen((e.target as HTMLDetailsElement).open)}>
      <summary>
        <code>{(file.from ? line(file.from) + " → " : "") + line(file.path)}</code> {file.gone && <span class="gone">deleted</span>}
      </summary>
      {file.notes.map((n) => (
        <p class="dim">{line(n)}</p>
      ))}
      {open &&
        file.hunks.map((h) => (
          <div class="hunk" role="group" aria-label={"lines from " + (h.lines[0]?.now ?? h.lines[0]?.old)}>
            <p class="dim">{line(h.head) || "…"}</p>
            {h.lines.map((l) => (
              <>
                <div class={"line " + (l.kind === "+" ? "added" : l.kind === "-" ? "gone" : "")}>
                  {resource && channel && l.kind !== "-" ? (
                    <button class="at" aria-label={`comment on line ${l.now}`} title="comment" onClick={() => comment(l)}>
                      {l.now}
                    </button>
                  ) : (
                    <span class="at">{l.now ?? ""}</span>
                  )}
                  <code>{l.kind + shown(l.text)}</code>
                </div>
                {under(l).map((n) => (
                  <Note key={n.id} store={store} channel={channel!} note={n} />
                ))}
              </>
            ))}
          </div>
        ))}
    </details>
  );
}

function Note({ store, channel, note }: { store: Store; channel: string; note: Annotation }) {
  const given = note.entries.some((e) => e._meta?.["tandemux/given"]);
  const tell = (action: { type: string } & Record<string, unknown>) => void store.send(channel, action).catch(() => {});
  return (
    <div class={"note" + (note.resolved ? " resolved" : "")} role="note">
      {note.entries.map((e) => (
        <p>{prose(e.text)}</p>
      ))}
      <small>{note.resolved ? "done" : given ? "the agent has it" : "goes with the next message"}</small>
      <button onClick={() => tell({ type: "annotations/updated", annotationId: note.id, resolved: !note.resolved })}>{note.resolved ? "not done" : "done"}</button>
      <button onClick={() => tell({ type: "annotations/removed", annotationId: note.id })}>delete</button>
    </div>
  );
}
