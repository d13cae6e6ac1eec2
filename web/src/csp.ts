// xterm.js makes style elements and style attributes, which the page's policy forbids: what
// a terminal prints must not become either. Here they become what the policy allows, rules
// of constructed style sheets and properties. It must be imported before xterm.js.

const create = Document.prototype.createElement;

/** sheeted stands for a style element: its text is a style sheet while it is in the page. */
function sheeted(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  let text = "";
  let stale = false;
  // A terminal sets its styles several times while it opens: they are read once.
  const set = (t: string) => {
    text = t ?? "";
    if (stale) return;
    stale = true;
    queueMicrotask(() => {
      stale = false;
      sheet.replaceSync(text);
    });
  };
  document.adoptedStyleSheets.push(sheet);
  element.hidden = true;
  for (const name of ["textContent", "innerText"])
    Object.defineProperty(element, name, { get: () => text, set });
  Object.defineProperty(element, "sheet", { get: () => sheet });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

Document.prototype.createElement = function (this: Document, name: string, options?: ElementCreationOptions) {
  return name === "style" ? sheeted(create.call(this, "span")) : create.call(this, name, options);
} as typeof create;

const setAttribute = Element.prototype.setAttribute;

Element.prototype.setAttribute = function (this: Element, name: string, value: string) {
  if (name === "style" && this instanceof HTMLElement) this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

/** worker is the address of the service worker, the only script that this page names. */
export function worker(): any {
  const rules = { createScriptURL: () => "/web/sw.js" };
  return (globalThis as any).trustedTypes?.createPolicy("tandemux", rules).createScriptURL("") ?? "/web/sw.js";
}
