// The page's colours: those of the owner's theme, made legible on what they stand on.

/** What x-tandemux/interface tells of a theme. */
export interface Theme {
  name: string;
  dark: boolean;
  colors: Record<string, string>;
}

type RGB = [number, number, number];

const dark16 = ["#22262e", "#e5737d", "#98c379", "#e5c07b", "#6cb2f5", "#c99bdc", "#62c3cf", "#d8dee9", "#828c9e", "#ff8f98", "#b5de93", "#ffd894", "#8fc9ff", "#dfb4ef", "#82dbe6", "#ffffff"];
const light16 = ["#1b1f27", "#a3262f", "#2f6b1f", "#7d5200", "#14589e", "#7c3494", "#0f6570", "#5b6472", "#505967", "#c2323c", "#3c7d2a", "#8f6100", "#1f6cbd", "#9444ae", "#177885", "#2b303a"];
const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** text and mark are the least contrasts of WCAG 2.2, AA: 1.4.3 and 1.4.11. */
export const text = 4.5;
export const mark = 3;

const rgb = (c: string): RGB => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)) as RGB;
const hex = (c: RGB) => "#" + c.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
const mix = (a: string, b: string, share: number) => hex(rgb(a).map((v, i) => v + (rgb(b)[i] - v) * share) as RGB);

function luminance(c: string): number {
  const [r, g, b] = rgb(c).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** contrast is WCAG's ratio of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** legible is a colour, or one nearer to black or white, that can be read on all grounds. */
export function legible(c: string, grounds: string[], least: number): string {
  const worst = (t: string) => Math.min(...grounds.map((g) => contrast(t, g)));
  const to = worst("#000000") > worst("#ffffff") ? "#000000" : "#ffffff";
  for (let share = 0; share < 1; share += 0.05) {
    const t = mix(c, to, share);
    if (worst(t) >= least) return t;
  }
  return to;
}

export interface Colors {
  dark: boolean;
  /** Custom properties of app.css. */
  page: Record<string, string>;
  /** As xterm.js wants them. */
  terminal: Record<string, string>;
  /** The sixteen, as x-tandemux/colors tells them. */
  palette: string[];
}

/** colorsOf makes the page's colours of a theme's tokens. */
export function colorsOf(theme: Theme): Colors {
  const palette = theme.dark ? dark16 : light16;
  const own = (token: string, otherwise: string) => {
    const c = theme.colors[token] ?? "default";
    return /^#[0-9a-f]{6}$/i.test(c) ? c : /^\d+$/.test(c) && +c < 16 ? palette[+c] : otherwise;
  };
  const back = own("background", theme.dark ? "#15181e" : "#fbfbfc");
  const fore = legible(own("foreground", theme.dark ? "#d8dee9" : "#22262e"), [back], text);
  let raised = own("status_bg", mix(back, fore, 0.06));
  let code = mix(back, theme.dark ? "#000000" : fore, theme.dark ? 0.25 : 0.05);
  // On one ground something can always be read, on greys that differ perhaps nothing.
  if (!["#000000", "#ffffff"].some((t) => [back, raised, code].every((g) => contrast(t, g) >= text))) raised = code = back;
  const grounds = [back, raised, code];
  const on = (token: string, otherwise: string) => legible(own(token, otherwise), grounds, text);
  const selected = own("selection_bg", mix(back, "#4a90d9", 0.4));
  const page = {
    back,
    raised,
    code,
    text: legible(fore, grounds, text),
    line: legible(own("border", mix(back, fore, 0.2)), [back], 1.3),
    edge: legible(own("border", mix(back, fore, 0.4)), grounds, mark),
    dim: on("muted", mix(back, fore, 0.7)),
    mine: on("badge_mine", palette[2]),
    agent: on("badge_agent", palette[5]),
    other: on("badge_other", palette[3]),
    bad: on("badge_failed", palette[9]),
    link: on("accent", palette[12]),
  };
  const filled = (c: string) => legible(back, [c], text);
  const terminal: Record<string, string> = {
    foreground: fore,
    background: back,
    cursor: fore,
    cursorAccent: back,
    selectionBackground: selected,
    scrollbarSliderBackground: own("scrollbar", page.line) + "90",
  };
  names.forEach((n, i) => {
    terminal[n] = palette[i];
    terminal["bright" + n[0].toUpperCase() + n.slice(1)] = palette[i + 8];
  });
  return { dark: theme.dark, page: { ...page, "on-mine": filled(page.mine), "on-bad": filled(page.bad) }, terminal, palette };
}

/** wear has the page drawn in these colours. */
export function wear(c: Colors) {
  const root = document.documentElement.style;
  for (const [k, v] of Object.entries(c.page)) root.setProperty("--" + k, v);
  root.colorScheme = c.dark ? "dark" : "light";
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", c.page.back);
}

export const first = colorsOf({ name: "", dark: true, colors: {} });
