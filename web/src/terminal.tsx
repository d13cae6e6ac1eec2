// A terminal on the page: its screen, who holds it, and what may be done about that.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type * as ahp from "./types";
import { newScreen, type Screen } from "./engine";
import type { Command } from "./marks";
import { set } from "./setup";
import { activityURI, type Holder, type Store } from "./store";
import { guests } from "./share";
import { at, hostOf, prefixed } from "./names";
import { line, safe, shown } from "./text";

const meta = (t?: ahp.TerminalInfo) => (t?._meta ?? {}) as Record<string, any>;

export const nameOf = (t?: ahp.TerminalInfo) => (t ? line(prefixed(hostOf(t.resource), t.title || "terminal")) : "terminal");

const last = (uri: string) => uri.slice(uri.lastIndexOf("/") + 1);

/** nameAt is nameOf by the address; of a terminal that is not known yet its host and id. */
export const nameAt = (store: Store, uri = "") => {
  const t = store.terminal(uri);
  return t || !hostOf(uri) ? nameOf(t) : line(prefixed(hostOf(uri), last(uri)));
};

/** whose says who holds a terminal, in a few words. */
export function whose(store: Store, t: ahp.TerminalInfo): string {
  const m = meta(t);
  switch (store.holder(t)) {
    case "me":
    case "mine":
      return "yours";
    case "agent":
      return line(m["tandemux/agent"] || last((t.claim as any).session ?? "agent")) + " works here";
    case "background":
      return line(m["tandemux/agent"] || last((t.claim as any).session ?? "agent")) + ", in the background";
    default:
      return "held by " + line(m["tandemux/holder"] || "the terminal interface");
  }
}

/** running is the command that runs, where that is known. */
export const running = (t?: ahp.TerminalInfo): string => {
  const c = meta(t)["tandemux/lastCommand"];
  return c?.running ? line(c.commandLine) : "";
};

/** take makes a terminal this page's; what that interrupts is asked about first. */
export function take(store: Store, t: ahp.TerminalInfo) {
  const h = store.holder(t);
  const doing = running(t);
  if ((h === "agent" || h === "other") && doing)
    store.ask({ text: `Take this terminal? ${whose(store, t)}.`, detail: doing, yes: "Take", do: () => store.claim(t.resource) });
  else store.claim(t.resource);
}

export function handBack(store: Store, t: ahp.TerminalInfo) {
  const to = meta(t)["tandemux/handBack"];
  if (!to) return;
  const go = () => void store.send(t.resource, { type: "terminal/claimed", claim: to }).then(() => store.say("handed back"), () => {});
  const doing = running(t);
  if (doing) store.ask({ text: "Hand it back while this runs?", detail: doing, yes: "Hand back", do: go });
  else go();
}

/** sendBack sends to the background what an agent runs. */
export function sendBack(store: Store, t: ahp.TerminalInfo) {
  if (store.holder(t) === "agent") background(store, t);
  else store.say("no agent's command runs here", "warning");
}

/** background lets an agent's tool call end while its command runs on. */
function background(store: Store, t: ahp.TerminalInfo) {
  const { kind, session, chat } = t.claim as any;
  void store.send(t.resource, { type: "terminal/claimed", claim: { kind, session, chat } }).catch(() => {});
}

/** Actions are the buttons about who holds a terminal. */
function Actions({ store, t }: { store: Store; t: ahp.TerminalInfo }) {
  const h = store.holder(t);
  const ended = t.lifecycle.status === "exited";
  return (
    <span class="actions">
      {h === "agent" && <button onClick={() => background(store, t)}>Background</button>}
      {h !== "me" && h !== "mine" && !ended && store.may("terminal:claim", t.resource) && (
        <button class="take" onClick={() => take(store, t)}>
          Take
        </button>
      )}
      {(h === "me" || h === "mine") && meta(t)["tandemux/handBack"] && (
        <button class="back" onClick={() => handBack(store, t)}>
          Hand back
        </button>
      )}
    </span>
  );
}

const barKeys: [label: string, key: string][] = [
  ["esc", "esc"],
  ["tab", "tab"],
  ["ctrl", "ctrl"],
  ["↑", "up"],
  ["↓", "down"],
  ["←", "left"],
  ["→", "right"],
  ["pgup", "pgup"],
  ["pgdn", "pgdn"],
  ["^C", "\x03"],
  ["^D", "\x04"],
  ["|", "|"],
  ["~", "~"],
  ["/", "/"],
];

/** KeyBar has the keys that phones lack. Ctrl is for the next key. */
function KeyBar({ screen, ctrl, setCtrl }: { screen: Screen; ctrl: boolean; setCtrl: (on: boolean) => void }) {
  return (
    <div class="keys" role="toolbar" aria-label="keys">
      {barKeys.map(([label, key]) => (
        <button
          key={key}
          aria-pressed={key === "ctrl" ? ctrl : undefined}
          // The keyboard stays.
          onPointerDown={(e: Event) => e.preventDefault()}
          onClick={() => (key === "ctrl" ? setCtrl(!ctrl) : screen.press(key))}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** withCtrl is a key with ctrl held down. */
const withCtrl = (d: string) => (/^[a-z@[\\\]^_ ]$/i.test(d) ? String.fromCharCode(d.toUpperCase().charCodeAt(0) & 31) : d);

interface Props {
  store: Store;
  uri: string;
  /** The pane is the one that keys go to. */
  focus?: boolean;
  onFocus?: () => void;
  onRename?: () => void;
  phone: boolean;
  /** Given by the user to the pane. */
  name?: string;
  /** More buttons. */
  extra?: preact.ComponentChildren;
}

export function TerminalView({ store, uri, focus, onFocus, onRename, phone, name, extra }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen>();
  const [ctrl, setCtrl] = useState(false);
  const [flash, setFlash] = useState(false);
  const held = useRef({ ctrl, onFocus });
  held.current = { ctrl, onFocus };

  const t = store.terminal(uri);
  const state = store.get<ahp.TerminalState>(uri);
  const h: Holder | undefined = t && store.holder(t);
  const away = store.hosts.away(uri);

  useLayoutEffect(() => {
    let said = 0;
    const type = (d: string) => {
      if (store.type(uri, d)) return;
      setFlash(true);
      clearTimeout(said); // by the last key
      said = window.setTimeout(() => setFlash(false), 2000);
    };
    const events = {
      input: (d: string) => {
        if (held.current.ctrl) {
          setCtrl(false);
          d = withCtrl(d);
        }
        type(d);
      },
      link: (address: string) => {
        const to = safe(address);
        if (to) store.ask({ text: "Open this address?", detail: to, yes: "Open", do: () => open(to, "_blank", "noopener,noreferrer") });
      },
      copy: (text: string) => {
        const now = store.terminal(uri);
        // Programs of others, and those that nobody looks at, set nothing.
        if (!now || store.holder(now) !== "me" || !document.hasFocus() || text.length > 1 << 20) return;
        navigator.clipboard?.writeText(text).then(() => store.say("copied by the program"), () => {});
      },
      paste: (text: string, bracketed: boolean) => {
        const go = () => s.paste(text);
        if (!bracketed && /[\r\n]./s.test(text)) store.ask({ text: "Paste several lines? They may run at once.", detail: text.slice(0, 2000), yes: "Paste", do: go });
        else go();
      },
      bell: () => {},
      focused: () => held.current.onFocus?.(),
      command: (c: Command) => store.ui?.read(uri, c.id),
    };
    const s = newScreen(events, { theme: store.colors.terminal, aloud: store.settings.aloud, marks: store.setup?.commandMarks ?? true });
    const end = store.attach(uri, s); // first: the host answers meanwhile
    s.open(box.current!);
    setScreen(s);
    return () => {
      end();
      s.dispose();
    };
  }, [uri]);

  // Who holds it decides about its size, and this browser about one that another page of its
  // left; others see all of it, smaller if need be.
  const font = store.settings.font || (phone ? 12 : 14);
  const mine = h === "me" || (h === "mine" && !!meta(t)["tandemux/detached"]);
  useEffect(() => {
    if (!screen || !state) return;
    const fit = () => {
      if (!mine || away) return screen.setFontSize(phone ? store.settings.font : font);
      screen.setFontSize(font);
      const room = screen.room();
      if (room && t?.lifecycle.status !== "exited" && (room.cols !== state.cols || room.rows !== state.rows))
        store.dispatch(uri, { type: "terminal/resized", ...room });
    };
    const timer = setTimeout(fit, 50);
    const seen = new ResizeObserver(() => setTimeout(fit, 50));
    seen.observe(box.current!);
    return () => {
      clearTimeout(timer);
      seen.disconnect();
    };
  }, [screen, mine, phone, font, !!state, state?.cols, state?.rows, away]);

  // Two fingers change the size of letters, which this browser keeps.
  useEffect(() => {
    const b = box.current!;
    let from: { apart: number; px: number; now: number } | undefined;
    const apart = (e: TouchEvent) => Math.hypot(e.touches[0].clientX - e.touches[1].clientX, e.touches[0].clientY - e.touches[1].clientY);
    const start = (e: TouchEvent) => {
      if (e.touches.length !== 2 || !screen) return;
      const px = screen.fontSize();
      from = { apart: apart(e), px, now: px };
    };
    const move = (e: TouchEvent) => {
      if (!from || e.touches.length !== 2) return;
      e.preventDefault();
      e.stopPropagation();
      const px = Math.round(Math.max(6, Math.min(32, (from.px * apart(e)) / from.apart)));
      if (px !== from.now) screen!.setFontSize((from.now = px));
    };
    const end = () => {
      if (from && from.now !== from.px) set(store, { font: from.now });
      from = undefined;
    };
    const opts = { capture: true, passive: false };
    b.addEventListener("touchstart", start, opts);
    b.addEventListener("touchmove", move, opts);
    b.addEventListener("touchend", end, opts);
    b.addEventListener("touchcancel", end, opts);
    return () => {
      b.removeEventListener("touchstart", start, opts);
      b.removeEventListener("touchmove", move, opts);
      b.removeEventListener("touchend", end, opts);
      b.removeEventListener("touchcancel", end, opts);
    };
  }, [screen]);

  useEffect(() => {
    if (focus && screen && !phone) screen.focus();
  }, [focus, screen, mine]);

  // What is on a screen that a person looks at is seen.
  const attention = store.attention(uri);
  const newest = Math.max(attention?.bell ?? 0, attention?.note?.at ?? 0, attention?.status?.at ?? 0, attention?.output ?? 0, endOf(t));
  useEffect(() => {
    if (!store.guest && !away && document.visibilityState === "visible" && document.hasFocus() && newest > (attention?.seen ?? 0))
      store.dispatch(at(hostOf(uri), activityURI), { type: "x-tandemux/terminalSeen", terminal: uri });
  }, [newest]);

  const finding = store.finding?.uri === uri ? store.finding : undefined;
  const endFinding = () => {
    store.finding = undefined;
    store.tell();
    screen?.focus();
  };
  const find = (text: string, back: boolean) => {
    store.found = { text, back };
    const at = screen!.find(text, back);
    if (!at) store.say("not found");
    else if (store.copying?.uri === uri) store.copying.mode.found(at);
  };
  const ended = t?.lifecycle.status === "exited";
  const code = (t?.lifecycle as any)?.exitCode;

  return (
    <section class={"pane" + (focus ? " focused" : "") + (flash ? " flash" : "") + (away ? " away" : "")} data-uri={uri} aria-label={nameAt(store, uri)}>
      <header class={"held-" + h}>
        <b onDblClick={onRename} title={onRename && "twice: rename"}>
          {name ? line(name) : nameAt(store, uri)}
        </b>
        <span class="who" title={away}>{away ? store.hosts.since(uri) : t ? (ended ? (code === undefined ? "ended" : `ended with ${code}`) : whose(store, t)) : "gone"}</span>
        {guests(t) && <em class="guests">{guests(t)}</em>}
        {t && !away && <Actions store={store} t={t} />}
        <span class="tools">
          {store.copying?.uri === uri && <em>copy mode</em>}
          {!store.guest && (
          <button title="commands, folded" aria-label="commands" onClick={() => store.ui?.read(uri)}>
            ≡
          </button>
          )}
          <button title="find" aria-label="find" onClick={() => (finding ? endFinding() : ((store.finding = { uri, back: true, text: "" }), store.tell()))}>
            find
          </button>
          <button title="copy the selection, or the screen" aria-label="copy" onClick={() => store.copy(screen?.selection() || screen?.text() || "")}>
            copy
          </button>
          {extra}
        </span>
      </header>
      {finding && screen && (
        <input
          class="find"
          type="search"
          aria-label="find in the terminal"
          placeholder="find; enter goes on, shift+enter back"
          defaultValue={finding.text}
          ref={(e: HTMLInputElement | null) => e?.focus()}
          onKeyDown={(e: KeyboardEvent) => {
            if (e.key === "Escape") endFinding();
            else if (e.key === "Enter") find((e.target as HTMLInputElement).value, finding.back !== e.shiftKey);
            if (e.key === "Enter" && store.copying) endFinding();
          }}
        />
      )}
      <div class="screen" ref={box} />
      {phone && screen && (h === "me" || h === "mine" ? <KeyBar screen={screen} ctrl={ctrl} setCtrl={setCtrl} /> : null)}
      {flash && !ended && <p class="hint">{store.may("terminal:claim", uri) ? "Take it first: nothing was typed." : "You may look only: nothing was typed."}</p>}
    </section>
  );
}

/** endOf is when a terminal's newest command ended, 0 for none. */
export function endOf(t?: ahp.TerminalInfo): number {
  const c = meta(t)["tandemux/lastCommand"];
  return c && !c.running && c.durationMs !== undefined ? c.timestamp + c.durationMs : 0;
}

export const commandOf = (t: ahp.TerminalInfo) => meta(t)["tandemux/lastCommand"] as ahp.CommandInfo | undefined;
export const askOf = (t: ahp.TerminalInfo) => meta(t)["tandemux/ask"] as ahp.Ask | undefined;
export const cwdOf = (t: ahp.TerminalInfo) => {
  const cwd: string | undefined = meta(t)["tandemux/cwd"];
  try {
    return cwd ? shown(decodeURIComponent(new URL(cwd).pathname)) : "";
  } catch {
    return "";
  }
};
