package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// configure adds to the person's configuration, before its tables.
func (m *machine) configure(text string) {
	m.Helper()
	path := filepath.Join(m.dir, "home", ".config", "tandemux", "config.toml")
	had, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(text+string(had)), 0o600)
	}
	if err != nil {
		m.Fatal(err)
	}
}

// chord presses a key with ctrl, and then others one by one.
func (b *browser) chord(ctrl string, then string) {
	b.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		code := int64(strings.ToUpper(ctrl)[0])
		for _, kind := range []input.KeyType{input.KeyRawDown, input.KeyUp} {
			if err := input.DispatchKeyEvent(kind).WithKey(ctrl).WithModifiers(input.ModifierCtrl).WithWindowsVirtualKeyCode(code).Do(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	b.keys(then)
}

// TestKeys: the person's own keys begin commands, the palette has the same ones, and what
// the page does to a layout the terminal interface has, too.
func TestKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	m.configure("prefix = \"ctrl+b\"\ntheme = \"nord\"\n")
	b := m.browse()
	b.pair(m.offer())
	b.terminal()
	b.until("the keys are known", `!!tandemux.chords`)
	panes := func(n int) {
		b.Helper()
		b.until(fmt.Sprint(n, " panes"), fmt.Sprintf(`document.querySelectorAll(".pane").length === %d`, n))
	}
	focused := `[...document.querySelectorAll(".pane")].findIndex(p => p.classList.contains("focused"))`

	b.chord("b", "|")
	panes(2)
	b.until("the new one has the focus", focused+" === 1")
	b.chord("b", "h")
	b.until("the left one has it", focused+" === 0")
	b.chord("b", ";")
	b.until("the last one has it", focused+" === 1")
	b.chord("b", "-")
	panes(3)

	// What can follow shows after a while; what is not bound goes nowhere.
	b.chord("b", "")
	b.until("a hint", `document.querySelector(".hints")?.innerText.includes("split right")`)
	b.shot("hints")
	b.keys("~")
	b.until("no hint", `!document.querySelector(".hints")`)
	// The prefix twice is the prefix.
	b.keys("cat -v\r")
	b.shows("cat -v\n")
	b.chord("b", "")
	b.chord("b", "\r")
	b.shows("^B")
	b.eval(`tandemux.type(tandemux.active, "\x03"), true`)

	// Names, by the palette and its question.
	b.chord("b", ":")
	b.until("the palette", `document.activeElement.getAttribute("role") === "combobox"`)
	b.keys("rename tab")
	b.shot("browser-palette")
	b.keys("\r")
	b.until("a question", `document.activeElement.closest(".dialog") && document.activeElement.tagName === "INPUT"`)
	b.keys("work\r")
	b.until("the tab's name", `document.querySelector(".tabs [role=tab]").innerText === "work"`)
	b.until("the keys are the terminal's again", `document.activeElement.tagName === "TEXTAREA"`)
	b.until("the document that all see has it", `tandemux.get("x-tandemux-layout:/main").doc.tabs[0].name === "work"`)

	// A border is dragged, and moved by a key; all who show the layout see it.
	border := `document.querySelector(".split.across > .border")`
	width := `document.querySelector(".split.across > .cell").clientWidth`
	var x, y float64
	b.do(chromedp.Evaluate(border+`.getBoundingClientRect().x + 3`, &x), chromedp.Evaluate(border+`.getBoundingClientRect().y + 100`, &y))
	before := b.eval(width)
	b.do(chromedp.MouseEvent(input.MousePressed, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseMoved, x-120, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseReleased, x-120, y, chromedp.ButtonLeft))
	b.until("a narrower pane", fmt.Sprintf(`Math.abs(%s - %s - 120) < 3`, before, width))
	b.until("all know", fmt.Sprintf(`(() => { const w = tandemux.get("x-tandemux-layout:/main").doc.tabs[0].root.weights; return Math.abs(w[0] / (w[0] + w[1]) - %[1]s / (%[1]s + document.querySelectorAll(".split.across > .cell")[1].clientWidth)) < 0.01 })()`, width))
	before = b.eval(width)
	b.eval(border + `.focus(), true`)
	b.do(chromedp.KeyEvent("\u0304")) // nothing that is bound
	b.eval(border + `.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true})), true`)
	b.until("a wider pane", fmt.Sprintf(`%s > %s`, width, before))

	// The person's theme.
	for _, ground := range []string{"rgb(46, 52, 64)", "rgb(236, 239, 244)"} { // dark, light
		b.eval(`document.querySelector(".look button").click(), true`)
		b.until("the theme's ground "+ground, `getComputedStyle(document.body).backgroundColor === "`+ground+`"`)
	}
	b.clean()
}

// TestCommandMarks: commands are marked with how they ended, gone to, copied, unfolded; and
// text is selected and found by keys alone.
func TestCommandMarks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.terminal()
	b.until("the keys are known", `!!tandemux.chords`)
	b.eval(`navigator.clipboard.writeText = t => (window.copied = t, Promise.resolve()), true`)
	b.keys("seq 3\r")
	// What is typed before the shell reads is echoed into the command's output.
	b.until("the shell reads again", "tandemux.texts().some(t => /\\n3\\n.*[#$] *\\n*$/.test(t))")
	b.keys("ls /none\r")
	b.until("a mark of what failed", `document.querySelector(".mark[data-how=failed]")?.textContent.startsWith("✗ 2")`)
	b.until("a mark of what passed", `document.querySelector(".mark[data-how=passed]")?.textContent.startsWith("✓")`)
	b.shot("marks")
	b.eval(`tandemux.ui.palette(""), true`)
	for _, c := range []string{"previous-command", "previous-command", "", "copy-output"} {
		if c == "" { // the command that was gone to is that, also when all is shown anew
			b.promise(`tandemux.conn.subscribe(tandemux.active)`)
			b.until("it is shown", `[...tandemux.feeds.values()].every(f => !f.waiting)`)
			continue
		}
		b.eval(`tandemux.listing = undefined, tandemux.tell(), true`)
		b.until("no palette is open", `!document.querySelector(".palette")`)
		b.eval(`tandemux.ui.palette("` + c + `"), true`)
		b.until("the palette", `document.activeElement.getAttribute("role") === "combobox"`)
		b.keys("\r")
		b.until("it is closed", `!document.querySelector(".palette")`)
	}
	b.until("the output of the command that was gone to", `window.copied === "1\n2\n3\n" || window.copied === "1\n2\n3"`)

	// Copy mode: to the line of the first command's output, and the line.
	b.until("the keys are the terminal's again", `document.activeElement.tagName === "TEXTAREA"`)
	b.chord(" ", "[")
	b.until("copy mode", `!!tandemux.copying`)
	b.keys("/2\r")
	b.until("found", `tandemux.copying.mode.row === "2"`)
	b.keys("jVky")
	b.until("two lines are copied", `window.copied === "2\n3"`)
	b.until("copy mode has ended", `!tandemux.copying`)

	// All commands, folded.
	b.chord(" ", "C")
	b.until("the commands", `document.querySelectorAll(".commands details").length === 2 && !document.querySelector(".commands details[open]")`)
	b.eval(`document.querySelector(".commands summary").click(), true`)
	b.until("unfolded", `document.querySelector(".commands details[open] pre")?.innerText.trim() === "1\n2\n3"`)
	b.shot("reading")
	b.click("Run again")
	b.until("it runs again", `tandemux.texts().some(t => t.split("seq 3").length === 3)`)
	b.clean()
}

// TestOrders: a page does what another of the same browser has it do, and goes with a layout
// that gets another name.
func TestOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.terminal()
	b.until("the keys are known", `!!tandemux.chords`)
	at := b.eval(`location.origin + "/web/"`)
	id := b.eval(`tandemux.conn.clientId`)
	other, end := chromedp.NewContext(b.ctx)
	defer end()
	o := &browser{machine: m, ctx: other}
	o.pair(at)
	order := func(command string, args ...string) string {
		t.Helper()
		return o.promise(fmt.Sprintf(`tandemux.conn.call("x-tandemux/do", {channel: "x-tandemux-layout:/main", interface: %q, command: %q, args: %s}).then(r => JSON.stringify(r), e => e.message)`, id, command, encoded(args)))
	}
	if got := o.promise(`tandemux.conn.call("x-tandemux/clients", {channel: "ahp-root://"}).then(r => r.items.some(i => i.clientId === "` + id + `"))`); got != "true" {
		t.Errorf("the other page is listed: %s", got)
	}
	order("palette")
	b.until("the palette", `!!document.querySelector(".palette")`)
	b.keys("\x1b")
	if got := order("copy-output"); !strings.Contains(got, "no command ran here that is known") {
		t.Errorf("it says %s", got)
	}
	if got := order("no-such-command"); !strings.Contains(got, "no-such-command") {
		t.Errorf("of a command that there is not it says %s", got)
	}

	m.must("do", "--layout", "main", "rename-layout", "work")
	b.until("it shows the layout under its name", `tandemux.desk?.name === "work" && document.querySelectorAll(".pane").length === 1`)
	o.until("so does the other", `tandemux.desk?.name === "work"`)
	b.clean()
}
