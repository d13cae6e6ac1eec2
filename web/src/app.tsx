// The page: pairing, then what waits, terminals and chats; beside each other where there is
// room, one after the other on a phone.
import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type * as ahp from "./types";
import { worker } from "./csp";
import { Chat } from "./chat";
import { Inbox, type Item, items } from "./inbox";
import { listen } from "./keyboard";
import { Layout } from "./layout";
import { layouts, newChat, newTerminal } from "./make";
import { at, hostOf, prefixed } from "./names";
import type { Open } from "./page";
import { Hint, Palette } from "./palette";
import { Reading } from "./reading";
import { Search } from "./search";
import { set } from "./setup";
import { SignIn } from "./passkey";
import { opened } from "./push";
import { pair } from "./share";
import { Store } from "./store";
import { Tasks, TaskView } from "./tasks";
import { cwdOf, nameOf, running, TerminalView, whose } from "./terminal";
import { line } from "./text";

const phone = matchMedia("(max-width: 700px)");

type Place = "inbox" | "terminals" | "chats" | "tasks";

function Out({ text, guest }: { text: string; guest?: boolean }) {
  return (
    <main class="out">
      <h1>tandemux</h1>
      <p>{text}</p>
      <p>
        {guest ? "Ask who shared the terminal for another link." : <>Run <code>tandemux web</code> and open the link that it prints.</>}
      </p>
      {!guest && <SignIn />}
    </main>
  );
}

function useStore(store: Store) {
  const [, draw] = useState(0);
  // Not after the next frame: what the host tells until then would be drawn by nobody.
  useLayoutEffect(() => store.watch(() => draw((n) => n + 1)), [store]);
}

function usePhone() {
  const [is, set] = useState(phone.matches);
  useEffect(() => {
    const f = () => set(phone.matches);
    phone.addEventListener("change", f);
    return () => phone.removeEventListener("change", f);
  }, []);
  return is;
}

const order: Record<string, number> = { me: 0, mine: 0, agent: 1, background: 2, other: 3 };

function Terminals({ store, open }: { store: Store; open: (o: Open) => void }) {
  const live = (t: ahp.TerminalInfo) => (t.lifecycle.status === "exited" ? 10 : 0) + order[store.holder(t)];
  const all = [...store.terminals].sort((a, b) => live(a) - live(b));
  return (
    <div class="list">
      <button
        class="new"
        onClick={async () => {
          const uri = await newTerminal(store, 80, 24);
          if (uri) open({ kind: "terminal", uri });
        }}
      >
        New terminal
      </button>
      {[...store.hosts.all.keys()].map((h) => (
        <HostRow key={h} store={store} host={h} open={open} />
      ))}
      {all.map((t) => (
        <button key={t.resource} class={"row " + (t.lifecycle.status === "exited" ? "ended" : "held-" + store.holder(t)) + (store.hosts.away(t.resource) ? " away" : "")} onClick={() => open({ kind: "terminal", uri: t.resource })}>
          <b>{nameOf(t)}</b>
          <span>{store.hosts.away(t.resource) ? store.hosts.since(t.resource) : t.lifecycle.status === "exited" ? "ended" : whose(store, t)}</span>
          <small>{running(t) || cwdOf(t)}</small>
        </button>
      ))}
    </div>
  );
}

/** HostRow says how the connection to another host stands; a click tries, or makes a terminal. */
function HostRow({ store, host, open }: { store: Store; host: string; open: (o: Open) => void }) {
  const root = at(host, "ahp-root://");
  const away = store.hosts.away(root);
  return (
    <button
      class={"new host" + (away ? " away" : "")}
      title={away || "a new terminal there"}
      onClick={async () => {
        if (away) return store.at(root)?.retry();
        const uri = await newTerminal(store, 80, 24, host);
        if (uri) open({ kind: "terminal", uri });
      }}
    >
      {away ? `${line(host)}: ${store.hosts.since(root)}; try again` : `New terminal on ${line(host)}`}
      {away && store.at(root)?.why && <small>{line(store.at(root)!.why)}</small>}
    </button>
  );
}

function Chats({ store, open }: { store: Store; open: (o: Open) => void }) {
  const all = [...store.sessions].sort((a, b) => (b.modifiedAt > a.modifiedAt ? 1 : -1));
  const agents = store.hosts.roots.filter((r) => !store.hosts.away(r)).flatMap((r) => (store.get<ahp.RootState>(r)?.agents ?? []).map((a) => ({ ...a, host: hostOf(r) })));
  const begin = async (provider: string, host: string) => {
    const uri = await newChat(store, provider, host);
    if (uri) open({ kind: "chat", uri });
  };
  return (
    <div class="list">
      {agents.map((a) => (
        <button key={a.host + ":" + a.provider} class="new" onClick={() => begin(a.provider, a.host)}>
          New chat with {line(a.displayName || a.provider) + (a.host && " on " + a.host)}
        </button>
      ))}
      {!all.length && <p class="empty">No session with an agent.</p>}
      {all.map((s) => {
        const uri = s.defaultChat ?? s.chats?.[0]?.resource;
        return (
          <button key={s.resource} class={"row" + (store.hosts.away(s.resource) ? " away" : "")} disabled={!uri} onClick={() => uri && open({ kind: "chat", uri })}>
            <b>{line(prefixed(hostOf(s.resource), s.title || "session"))}</b>
            <span>{line(s.provider ?? "")}</span>
            <small>{line(s.activity ?? "")}</small>
          </button>
        );
      })}
    </div>
  );
}

const places: Record<Place, string> = { inbox: "Inbox", terminals: "Terminals", chats: "Chats", tasks: "Tasks" };

function App({ store }: { store: Store }) {
  useStore(store);
  const small = usePhone();
  const [place, setPlace] = useState<Place>("inbox");
  const [shown, setShown] = useState<Open | undefined>();

  // On a phone, back goes back.
  useEffect(() => {
    const back = () => setShown(undefined);
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const open = (o: Open) => {
    if (small && !shown) history.pushState({}, "");
    setShown(o);
  };
  useEffect(() => {
    if (shown?.kind === "terminal") store.active = shown.uri;
  }, [shown]);
  const home = () => (small && shown ? history.back() : setShown(undefined));
  useEffect(() => opened(() => (setPlace("inbox"), home())), [shown, small]);
  const follow = (i: Item) => {
    if (i.terminal) open({ kind: "terminal", uri: i.terminal });
    else if (i.chat) open({ kind: "chat", uri: i.chat });
  };

  // What commands do with the page, and the keys that begin them.
  store.ui = {
    place: (name) => {
      setPlace(name as Place);
      if (small) setShown(undefined);
      else setTimeout(() => document.querySelector<HTMLElement>(".side [role=tabpanel] button, .side [role=tabpanel] input")?.focus());
    },
    open,
    layout: (name) => setShown({ kind: "layout", name }),
    read: (uri, command) => {
      if (shown?.kind !== "reading") store.lastShown = shown;
      setShown({ kind: "reading", uri, command });
    },
    palette: (typed) => {
      store.listing = typed;
      store.tell();
    },
  };
  useEffect(() => listen(store), [store]);

  // Where the window's room is taken by a keyboard, the page has what is left.
  useEffect(() => {
    const v = visualViewport;
    if (!v) return;
    const fit = () => document.documentElement.style.setProperty("--room", v.height + "px");
    fit();
    v.addEventListener("resize", fit);
    return () => v.removeEventListener("resize", fit);
  }, []);

  const waiting = items(store).filter((i) => i.waits || i.failed).length;
  useEffect(() => {
    document.title = (waiting ? `(${waiting}) ` : "") + "tandemux";
  }, [waiting]);
  if (store.line === "out") return <Out guest={store.guest} text={store.guest ? "The terminal is not shared with you any more." : "This browser is not let in any more."} />;

  const own = store.terminals[0]; // a guest's
  const at: Open = store.guest ? { kind: "terminal", uri: own?.resource ?? "" } : (shown ?? { kind: "layout", name: "main" });
  const side = (
    <aside class="side" aria-label="lists" onKeyDown={(e: KeyboardEvent) => e.key === "Escape" && store.refocus()}>
      <nav class="places" role="tablist">
        {(Object.keys(places) as Place[]).map((p) => (
          <button key={p} role="tab" aria-selected={p === place} onClick={() => (setPlace(p), small && home())}>
            {places[p]}
            {p === "inbox" && waiting > 0 && <em>{waiting}</em>}
          </button>
        ))}
      </nav>
      <div role="tabpanel" aria-label={places[place]}>
        {place === "inbox" ? <Inbox store={store} open={follow} /> : place === "terminals" ? <Terminals store={store} open={open} /> : place === "chats" ? <Chats store={store} open={open} /> : <Tasks store={store} open={(id) => open({ kind: "task", id })} />}
      </div>
      <footer>
        {!small &&
          layouts(store).map((n) => (
            <button key={n} aria-pressed={at.kind === "layout" && at.name === n} onClick={() => setShown({ kind: "layout", name: n })}>
              {line(n)}
            </button>
          ))}
        <Look store={store} />
      </footer>
    </aside>
  );
  const main = (
    <main>
      {store.guest && !own ? (
        <p class="empty">{store.line === "new" ? "" : "The terminal is gone."}</p>
      ) : at.kind === "layout" ? (
        <Layout key={at.name} store={store} name={at.name} />
      ) : at.kind === "terminal" ? (
        <TerminalView key={at.uri} store={store} uri={at.uri} phone={small} focus extra={!store.guest && <button onClick={home}>{small ? "‹ back" : "×"}</button>} />
      ) : at.kind === "reading" ? (
        <Reading key={at.uri + at.command} store={store} uri={at.uri} first={at.command} back={() => setShown(small ? { kind: "terminal", uri: at.uri } : store.lastShown)} />
      ) : at.kind === "search" ? (
        <Search key={at.what + at.text} store={store} what={at.what} text={at.text} back={home} />
      ) : at.kind === "task" ? (
        <TaskView key={at.id} store={store} id={at.id} back={home} />
      ) : (
        <>
          {small && (
            <button class="home" onClick={home}>
              ‹ back
            </button>
          )}
          <Chat key={at.uri} store={store} uri={at.uri} />
        </>
      )}
    </main>
  );
  return (
    <div class={"page" + (small ? " phone" : "") + (store.guest ? " guest" : "")} data-line={store.line}>
      {!store.guest && (!small || !shown) && side}
      {(store.guest || !small || shown) && main}
      <div aria-live="polite">
        {store.line !== "online" && <p class="line">{store.line === "new" ? "connecting …" : "the host does not answer; trying again …"}</p>}
        {store.said && <p class={"said " + store.said.kind}>{store.said.text}</p>}
        <p class="unseen">{waiting > 0 ? `${waiting} in the inbox` : ""}</p>
      </div>
      {store.hint && <Hint store={store} />}
      {store.listing !== undefined && <Palette store={store} />}
      {store.question && <Dialog key={store.question.text} store={store} />}
    </div>
  );
}

/** Look chooses how the page looks on this device. */
function Look({ store }: { store: Store }) {
  const { scheme, aloud } = store.settings;
  const next = { auto: "dark", dark: "light", light: "auto" } as const;
  return (
    <span class="look">
      <button aria-label={`colours: ${scheme}; change`} title={"colours: " + scheme} onClick={() => set(store, { scheme: next[scheme] })}>
        {{ auto: "◐", dark: "●", light: "○" }[scheme]}
      </button>
      <button aria-label="screen reader" aria-pressed={aloud} title="tell a screen reader what terminals print" onClick={() => set(store, { aloud: !aloud })}>
        ♿
      </button>
    </span>
  );
}

/** Dialog is a question of the page's; No has the focus, or the field. */
function Dialog({ store }: { store: Store }) {
  const q = store.question!;
  const [value, setValue] = useState(q.value ?? "");
  const close = () => {
    store.question = undefined;
    store.refocus();
    store.tell();
  };
  const yes = () => {
    close();
    q.do(q.field ? value : undefined);
  };
  const first = (e: HTMLElement | null) => {
    if (e && !e.closest(".dialog")!.contains(document.activeElement)) e.focus();
  };
  /** round keeps the focus within. */
  const round = (e: KeyboardEvent) => {
    const all = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button, input, pre")];
    const end = e.shiftKey ? all[0] : all[all.length - 1];
    if (e.key === "Escape") close();
    else if (e.key === "Tab" && document.activeElement === end) all[e.shiftKey ? all.length - 1 : 0].focus(), e.preventDefault();
  };
  return (
    <div class="veil" onKeyDown={round}>
      <div class="dialog" role="alertdialog" aria-modal="true" aria-label={line(q.text)}>
        <p>{line(q.text)}</p>
        {q.detail && <pre tabIndex={0}>{q.detail}</pre>}
        {q.field && (
          <input
            aria-label={q.field}
            placeholder={q.field}
            value={value}
            ref={first}
            onInput={(e: Event) => setValue((e.target as HTMLInputElement).value)}
            onKeyDown={(e: KeyboardEvent) => e.key === "Enter" && yes()}
          />
        )}
        <div class="answers">
          <button ref={q.field ? undefined : first} onClick={close}>
            {q.field ? "Cancel" : "No"}
          </button>
          <button class="yes" onClick={yes}>
            {q.yes}
          </button>
        </div>
      </div>
    </div>
  );
}

// A link that is opened in a page that is there changes its address alone.
addEventListener("hashchange", () => location.hash.length > 1 && location.reload());

performance.mark("begun");
const into = document.getElementById("app")!;
pair().then(
  (pass) => {
    if (!pass) return render(<Out text="This browser has not been let in yet." />, into);
    const store = new Store(pass);
    (globalThis as any).tandemux = store; // for tests
    render(<App store={store} />, into);
    if ("serviceWorker" in navigator) navigator.serviceWorker.register(worker()).catch(() => {}); // without it the page works, too
  },
  (e) => render(<Out guest={location.search.startsWith("?share")} text={String(e.message)} />, into),
);
