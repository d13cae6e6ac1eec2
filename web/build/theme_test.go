package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// script runs a part of the page in an engine of its own.
func script(t *testing.T, contents string) *goja.Runtime {
	t.Helper()
	r := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: contents, ResolveDir: "../src"},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2017, Platform: api.PlatformNeutral,
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	vm := goja.New()
	if _, err := vm.RunString(newer + string(r.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	return vm
}

var token = regexp.MustCompile(`(?m)^(\w+) = "([^"]*)"`)

// TestContrast: in every theme that ships, and in those that no person would choose, all
// that the page writes can be read on all that it is written on (WCAG 2.2, AA).
func TestContrast(t *testing.T) {
	vm := script(t, `import {colorsOf, contrast} from "./theme"; globalThis.worst = (text) => {
		const {page, terminal} = colorsOf(JSON.parse(text)), faults = [];
		const check = (a, b, least) => { if (contrast(a, b) < least) faults.push([a, b, contrast(a, b).toFixed(2)].join(" on ")) };
		for (const t of ["text", "dim", "mine", "agent", "other", "bad", "link"]) for (const g of ["back", "raised", "code"]) check(page[t], page[g], 4.5);
		check(page.edge, page.back, 3); check(page["on-mine"], page.mine, 4.5); check(page["on-bad"], page.bad, 4.5); check(terminal.foreground, terminal.background, 4.5);
		return faults.join("; ");
	}`)
	var worst func(string) string
	if err := vm.ExportTo(vm.Get("worst"), &worst); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../themes/*.toml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v: there are %d themes", err, len(files))
	}
	check := func(name string, dark bool, colors map[string]string) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"name": name, "dark": dark, "colors": colors})
		if err != nil {
			t.Fatal(err)
		}
		if faults := worst(string(text)); faults != "" {
			t.Errorf("%s: %s", name, faults)
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		colors := map[string]string{}
		for _, m := range token.FindAllStringSubmatch(string(text), -1) {
			colors[m[1]] = m[2]
		}
		check(filepath.Base(file), !strings.Contains(string(text), "dark = false"), colors)
	}
	check("grey on grey", true, map[string]string{"background": "#777777", "status_bg": "#7a7a7a", "foreground": "#787878", "muted": "#767676", "badge_mine": "#777777"})
	check("empty", false, map[string]string{})
}

// TestChords: keys have the names that package keymap gives them, and chords of them begin
// what they are bound to.
func TestChords(t *testing.T) {
	vm := script(t, `import {keyOf, Chords, bytes} from "./keys"; globalThis.keyOf = keyOf; globalThis.bytes = bytes;
		globalThis.chords = (bindings, mode, presses) => { const c = new Chords(bindings); return presses.map(([key, at]) => { const r = c.press(key, mode, at); return r === undefined ? "-" : r.command ?? r }).join(" ") };`)
	run := func(js string) string {
		t.Helper()
		v, err := vm.RunString(js)
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	for press, want := range map[string]string{
		`key: "a"`:                                "a",
		`key: "A", shiftKey: true`:                "A",
		`key: "|", shiftKey: true`:                "|",
		`key: " "`:                                "space",
		`key: " ", ctrlKey: true`:                 "ctrl+space",
		`key: "@", ctrlKey: true`:                 "ctrl+space",
		`key: "B", ctrlKey: true, shiftKey: true`: "ctrl+shift+b",
		`key: "ArrowLeft", shiftKey: true`:        "shift+left",
		`key: "H", altKey: true, shiftKey: true`:  "alt+H",
		`key: "å", code: "KeyA", altKey: true`:    "alt+a",
		`key: "PageDown", altKey: true`:           "alt+pgdown",
		`key: "F12"`:                              "f12",
		`key: "Shift", shiftKey: true`:            "",
		`key: "Dead"`:                             "",
	} {
		if got := run(`keyOf({ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ` + press + `})`); got != want {
			t.Errorf("%s is %q, want %q", press, got, want)
		}
	}
	bindings := `[{mode: "normal", keys: "ctrl+b c", command: "new-tab"}, {mode: "normal", keys: "ctrl+b H", command: "resize-left", repeat: true}, {mode: "normal", keys: "alt+n", command: "direct"}, {mode: "copy", keys: "z t", command: "copy-view-top"}]`
	for presses, want := range map[string]string{
		`"normal", [["ctrl+b", 0], ["c", 1], ["c", 2]]`:                            "more new-tab -",
		`"normal", [["ctrl+b", 0], ["q", 1], ["c", 2]]`:                            "more none -",
		`"normal", [["ctrl+b", 0], ["H", 1], ["H", 400], ["H", 850], ["H", 2000]]`: "more resize-left resize-left resize-left -",
		`"normal", [["alt+n", 0], ["x", 1]]`:                                       "direct -",
		`"copy", [["z", 0], ["t", 1], ["ctrl+b", 2], ["c", 3]]`:                    "more copy-view-top more new-tab",
	} {
		if got := run(`chords(` + bindings + `, ` + presses + `)`); got != want {
			t.Errorf("%s gives %q, want %q", presses, got, want)
		}
	}
	if got := run(`JSON.stringify(["ctrl+space", "ctrl+b", "ctrl+left"].map(bytes))`); got != `["\u0000","\u0002",null]` {
		t.Errorf("keys type %s", got)
	}
}

// legibleHere gives the texts of the page that can't be read on what they stand on.
const legibleHere = `(() => {
	const rgb = s => { const m = s.match(/[\d.]+/g).map(Number); return {c: m.slice(0, 3), a: m[3] ?? 1} };
	const lum = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const ground = e => { for (; e; e = e.parentElement) { const b = rgb(getComputedStyle(e).backgroundColor); if (b.a > 0.99) return b.c } return [255, 255, 255] };
	const bad = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement, box = e.getBoundingClientRect();
		if (!n.data.trim() || !box.width || e.closest(".xterm, .unseen, .veil")) continue;
		const s = getComputedStyle(e), a = lum(rgb(s.color).c), b = lum(ground(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const large = parseFloat(s.fontSize) >= 24 || parseFloat(s.fontSize) >= 18.66 && s.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) bad.push(n.data.trim().slice(0, 40) + " " + ratio.toFixed(2));
	}
	return bad.join("; ");
})()`

// TestAccessible: the page is used by keys alone, says what it is to those who hear it, and
// what stands on it can be read.
func TestAccessible(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	m.configure("theme = \"solarized\"\n")
	b := m.browse()
	m.must("new", "--background", "--name", "build", "--", "cat")
	b.pair(m.offer())
	b.terminal()
	b.until("the keys are known", `!!tandemux.chords`)

	// From a terminal, which has tab for itself, to the lists and back, by keys.
	b.chord(" ", "w")
	b.until("the list has the focus", `document.activeElement.innerText === "New terminal"`)
	b.keys("\t")
	b.until("the next has it", `document.activeElement.classList.contains("row")`)
	if got := b.eval(`getComputedStyle(document.activeElement).outlineStyle + parseInt(getComputedStyle(document.activeElement).outlineWidth)`); got != "solid2" {
		t.Errorf("the focus shows as %s", got)
	}
	b.keys("\x1b")
	b.until("the terminal has it", `document.activeElement.tagName === "TEXTAREA"`)
	if got := b.eval(`[...document.querySelectorAll("button, input, textarea, [role=separator]")].filter(e => !(e.ariaLabel || e.innerText?.trim() || e.title)).map(e => e.outerHTML.slice(0, 80)).join()`); got != "" {
		t.Errorf("without a name are %s", got)
	}
	if got := b.eval(`[...document.querySelectorAll("[tabindex]")].filter(e => e.tabIndex > 0).length`); got != "0" {
		t.Errorf("%s elements have an order of their own", got)
	}
	if got := b.eval(`document.querySelector("[aria-live=polite]") !== null`); got != "true" {
		t.Error("what happens is not told")
	}

	b.click("screen reader")
	b.keys("echo al\"o\"ud\r")
	b.until("it is told", `[...document.querySelectorAll(".xterm-accessibility-tree > div")].some(e => e.textContent.trim() === "aloud")`)
	b.click("screen reader")
	b.until("no more", `!document.querySelector(".xterm-accessibility-tree")`)

	for range 2 { // dark, light
		b.eval(`document.querySelector(".look button").click(), true`)
		for _, place := range []string{"Inbox", "Terminals", "Chats", "Tasks"} {
			b.click(place)
			if bad := b.eval(legibleHere); bad != "" {
				t.Errorf("%s, %s: %s", b.eval(`tandemux.settings.scheme`), place, bad)
			}
		}
	}
	b.shot("accessible")
	b.clean()
}
