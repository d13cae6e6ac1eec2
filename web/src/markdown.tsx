// Markdown as elements. Every text is shown as text: there is no HTML, no picture is
// fetched, and a link asks before it leads away.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Store } from "./store";
import { safe, shown } from "./text";

const deepest = 12;
// More than this is shown as it was written.
const most = 200_000;
// In a paragraph longer than this nothing is marked: what looks for marks would take its time.
const longest = 3000;

interface Props {
  store: Store;
  text: string;
}

export function Markdown({ store, text }: Props) {
  const drawn = useMemo(() => {
    const clean = shown(text);
    return clean.length > most ? <div class="prose">{clean}</div> : <div class="markdown">{blocks(store, clean.split("\n"), 0)}</div>;
  }, [store, text]);
  return drawn;
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+|$)/;
const divider = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

const cells = (row: string) =>
  row
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((c) => c.trim().replace(/\\\|/g, "|"));

/** begins reports whether a line ends a paragraph by beginning something else. */
const begins = (l: string) => fence.test(l) || heading.test(l) || rule.test(l) || quote.test(l) || item.test(l);

function blocks(store: Store, lines: string[], depth: number): ComponentChildren[] {
  const all: ComponentChildren[] = [];
  if (depth > deepest) return [<p>{lines.join("\n")}</p>];
  for (let i = 0; i < lines.length; ) {
    const l = lines[i];
    let m: RegExpExecArray | null;
    if (!l.trim()) i++;
    else if ((m = fence.exec(l))) {
      const end = lines.findIndex((o, j) => j > i && o.trim().startsWith(m![1]) && !o.trim().slice(m![1].length).replace(/[`~]/g, ""));
      const to = end < 0 ? lines.length : end;
      all.push(<Code store={store} text={lines.slice(i + 1, to).join("\n")} language={m[2].trim()} />);
      i = to + 1;
    } else if ((m = heading.exec(l))) {
      const H = ("h" + Math.min(6, m[1].length + 2)) as "h3";
      all.push(<H>{inline(store, m[2], depth)}</H>);
      i++;
    } else if (rule.test(l)) {
      all.push(<hr />);
      i++;
    } else if (quote.test(l)) {
      const from = i;
      while (i < lines.length && lines[i].trim() && (quote.test(lines[i]) || !begins(lines[i]))) i++;
      all.push(<blockquote>{blocks(store, lines.slice(from, i).map((o) => o.replace(quote, "")), depth + 1)}</blockquote>);
    } else if ((m = item.exec(l))) {
      const numbered = /\d/.test(m[2]);
      const items: string[][] = [];
      for (let n: RegExpExecArray | null; i < lines.length; i++) {
        const o = lines[i];
        const under = items.length > 0 && (/^\s{2,}/.test(o) || (!o.trim() && i + 1 < lines.length && (/^\s{2,}\S/.test(lines[i + 1]) || item.test(lines[i + 1]))));
        if ((n = item.exec(o)) && /\d/.test(n[2]) === numbered) items.push([o.slice(n[0].length)]);
        else if (under) items[items.length - 1].push(o.replace(/^ {1,4}/, ""));
        else if (o.trim() && !begins(o) && lines[i - 1].trim()) items[items.length - 1].push(o);
        else break;
      }
      const kids = items.map((one) => <li>{one.length === 1 ? task(store, one[0], depth) : blocks(store, one, depth + 1)}</li>);
      all.push(numbered ? <ol start={parseInt(m[2], 10)}>{kids}</ol> : <ul>{kids}</ul>);
    } else if (l.includes("|") && divider.test(lines[i + 1] ?? "") && lines[i + 1].includes("-")) {
      const head = cells(l);
      const rows: string[][] = [];
      for (i += 2; i < lines.length && lines[i].includes("|") && lines[i].trim(); i++) rows.push(cells(lines[i]));
      all.push(
        <div class="table" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {head.map((c) => (
                  <th>{inline(store, c, depth)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => (
                <tr>
                  {head.map((_, j) => (
                    <td>{inline(store, r[j] ?? "", depth)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>,
      );
    } else {
      const from = i++;
      while (i < lines.length && lines[i].trim() && !begins(lines[i])) i++;
      all.push(<p>{inline(store, lines.slice(from, i).join("\n"), depth)}</p>);
    }
  }
  return all;
}

function task(store: Store, text: string, depth: number) {
  const m = /^\[([ xX])\]\s+/.exec(text);
  return m ? [m[1] === " " ? "☐ " : "☑ ", ...inline(store, text.slice(m[0].length), depth)] : inline(store, text, depth);
}

function Code({ store, text, language }: { store: Store; text: string; language: string }) {
  return (
    <figure class="code">
      <figcaption>
        {language}
        <button onClick={() => store.copy(text)}>copy</button>
      </figcaption>
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}

// In the order in which they are tried, at the first place where any begins. None looks far: a
// text of many that never end must not take its square.
const spans: [RegExp, (store: Store | undefined, m: RegExpExecArray, depth: number) => ComponentChildren][] = [
  [/\\([!-/:-@[-`{-~])/, (_, m) => m[1]],
  [/(`+)([^`]|[^`][\s\S]{0,500}?[^`])\1(?!`)/, (_, m) => <code>{m[2].replace(/^ (.*\S.*) $/, "$1")}</code>],
  [/!?\[([^\[\]]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+["'][^"']*["'])?\s*\)/, (s, m, d) => link(s, m[2], inline(undefined, m[1], d + 1), m[0])],
  [/<(https?:\/\/[^\s<>]+)>/, (s, m) => link(s, m[1], [m[1]], m[0])],
  [/\bhttps?:\/\/[^\s<>()]*[^\s<>().,;:!?'"*_`\]]/, (s, m) => link(s, m[0], [m[0]], m[0])],
  [/\*\*(?=\S)((?:[^*]|\*(?!\*))*?\S)\*\*/, (s, m, d) => <b>{inline(s, m[1], d + 1)}</b>],
  [/__(?=\S)((?:[^_]|_(?!_))*?\S)__/, (s, m, d) => <b>{inline(s, m[1], d + 1)}</b>],
  [/~~(?=\S)((?:[^~]|~(?!~))*?\S)~~/, (s, m, d) => <s>{inline(s, m[1], d + 1)}</s>],
  [/\*(?=\S)([^*]*?[^\s*])\*/, (s, m, d) => <i>{inline(s, m[1], d + 1)}</i>],
  [/(?<![\p{L}\p{N}])_(?=\S)([^_]*?[^\s_])_(?![\p{L}\p{N}])/u, (s, m, d) => <i>{inline(s, m[1], d + 1)}</i>],
];

/** link asks before it leads away; what leads to no web page is text, as is one in another's. */
function link(store: Store | undefined, address: string, label: ComponentChildren[], written: string): ComponentChildren {
  const to = safe(address);
  if (!to || !store) return written;
  const go = () => store.ask({ text: "Open this address?", detail: to, yes: "Open", do: () => void open(to, "_blank", "noopener,noreferrer") });
  return (
    <button class="link" title={to} onClick={go}>
      {label}
    </button>
  );
}

/** inline marks spans; without a store it makes no links. */
function inline(store: Store | undefined, text: string, depth: number): ComponentChildren[] {
  if (depth > deepest || text.length > longest) return [text];
  const all: ComponentChildren[] = [];
  while (text) {
    let best: RegExpExecArray | null = null;
    let make: (typeof spans)[number][1] | undefined;
    for (const [re, f] of spans) {
      const m = re.exec(text);
      if (m && (!best || m.index < best.index)) [best, make] = [m, f];
      if (best?.index === 0) break;
    }
    if (!best) break;
    if (best.index) all.push(text.slice(0, best.index));
    all.push(make!(store, best, depth));
    text = text.slice(best.index + best[0].length);
  }
  if (text) all.push(text);
  return all;
}
