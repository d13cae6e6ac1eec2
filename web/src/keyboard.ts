// The keyboard: which keys begin commands, wherever on the page it is.
import { run } from "./commands";
import { Chords, keyOf } from "./keys";
import type { Store } from "./store";

/** After this what can follow shows. */
const hintAfter = 500;

/** listen has keys begin commands until it is called off. */
export function listen(store: Store): () => void {
  let timer = 0;
  let of: Chords | undefined;
  const hint = (on: boolean) => {
    clearTimeout(timer);
    if (store.hint && !on) (store.hint = undefined), store.tell();
    if (on) timer = window.setTimeout(() => ((store.hint = of?.following()), store.tell()), hintAfter);
  };
  const pressed = (e: KeyboardEvent) => {
    const to = e.target as HTMLElement;
    const writes = (to.tagName === "INPUT" || to.tagName === "SELECT") && !of?.pending;
    if (e.isComposing || store.question || store.listing !== undefined || writes) return;
    const key = keyOf(e);
    if (!key) return;
    if (of !== store.chords) of = store.chords;
    if (!of) return;
    const copying = !!store.copying && store.copying.uri === store.active && !to.closest(".chat");
    const did = key === "esc" && of.pending ? (of.cancel(), "none") : of.press(key, copying ? "copy" : "normal", performance.now());
    if (did === undefined && !copying) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    hint(did === "more");
    if (did && did !== "more" && did !== "none") run(store, did.command, did.args);
  };
  addEventListener("keydown", pressed, true);
  return () => removeEventListener("keydown", pressed, true);
}
