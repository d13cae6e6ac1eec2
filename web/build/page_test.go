package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func runScriptEverywhere(ctx context.Context, js string) error {
	_, err := page.AddScriptToEvaluateOnNewDocument(js).Do(ctx)
	return err
}

// paste is what the browser does for ctrl+v, with a clipboard of the test's.
func (b *browser) paste(text string) {
	b.Helper()
	b.eval(fmt.Sprintf(`(() => { const d = new DataTransfer(); d.setData("text/plain", %s); document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData: d, bubbles: true, cancelable: true})); return true })()`, strconv.Quote(text)))
}

// click clicks a button by its label, of those that show.
func (b *browser) click(label string) {
	b.Helper()
	js := fmt.Sprintf(`[...document.querySelectorAll("button")].find(e => (e.ariaLabel || e.innerText.trim().split("\n")[0]) === %q && !e.disabled)`, label)
	b.until("a button "+label, "!!"+js)
	b.eval(js + ".click(), true")
}

// terminal opens a tab with a terminal, and waits for its prompt.
func (b *browser) terminal() {
	b.Helper()
	b.click("new tab")
	b.until("a prompt", `tandemux.texts().some(t => /[#$] *\n*$/.test(t))`)
	b.until("focus", `document.activeElement.tagName === "TEXTAREA"`)
}

// host is the process of the host.
func (m *machine) host() int {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, "run", "tandemux", "host.lock"))
	if err != nil {
		m.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		m.Fatal(err)
	}
	return pid
}

// kill ends the host at once, as a crash does.
func (m *machine) kill() {
	m.Helper()
	pid := m.host()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		m.Fatal(err)
	}
	for syscall.Kill(pid, 0) == nil {
		time.Sleep(5 * time.Millisecond)
	}
}

// TestPage: a browser is let in, types, and is let in no more.
func TestPage(t *testing.T) {
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer("--name", "desk"))
	b.terminal()
	b.keys("echo wor\"k\"ing\r")
	b.shows("\nworking")
	b.shot("working")

	// It comes back by its cookie.
	b.do(chromedp.Reload())
	b.until("connected again", `document.querySelector(".page")?.dataset.line === "online"`)
	b.shows("\nworking")

	id := strings.Fields(strings.Split(m.must("token", "ls"), "\n")[1])[0]
	m.must("token", "rm", id)
	b.until("out", `document.body.innerText.includes("not let in any more")`)
	b.clean()
}

// TestTerminals: splits, vim, a paste, another size, a host that dies.
func TestTerminals(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.terminal()

	b.click("split to the right")
	b.until("two panes", `document.querySelectorAll(".pane").length === 2`)
	b.until("two prompts", `tandemux.texts().filter(t => /[#$] *\n*$/.test(t)).length === 2`)
	b.until("the new one has the keys", `document.activeElement.closest(".pane") === document.querySelectorAll(".pane")[1]`)
	b.until("both have the size of their panes", `[...tandemux.feeds].every(([u, f]) => { const s = tandemux.get(u), r = [...f.screens][0].room(); return r && s.cols === r.cols && s.rows === r.rows })`)
	b.keys("echo right\r")
	b.shows("\nright")
	b.click("split below")
	b.until("three panes", `document.querySelectorAll(".pane").length === 3`)
	if doc := m.must("layout", "ls"); !strings.Contains(doc, "main") {
		t.Errorf("the terminal interface's layout has it not: %s", doc)
	}
	b.until("a third prompt", `tandemux.texts().filter(t => /[#$] *\n*$/.test(t)).length >= 3`)
	b.shot("browser")

	// A size of the browser's reaches the program.
	before := b.eval(`[...tandemux.feeds.keys()].map(u => tandemux.get(u).cols).join()`)
	b.do(chromedp.EmulateViewport(1000, 700))
	b.until("other sizes", fmt.Sprintf(`[...tandemux.feeds.keys()].map(u => tandemux.get(u).cols).join() !== %q`, before))

	// A paste of one line; one of several in brackets; and none that types its own end.
	b.paste("echo pas\x1b[201~ted")
	b.shows("echo pas[201~ted")
	b.keys("\r")
	b.shows("\npas[201~ted")
	b.paste("echo a\necho b")
	b.until("brackets", `tandemux.texts().some(t => t.includes("echo a\necho b")) || !!document.querySelector(".dialog")`)
	if b.eval(`!!document.querySelector(".dialog")`) == "true" {
		b.click("Paste")
	}
	b.until("the terminal has the keys", `document.activeElement.tagName === "TEXTAREA" && tandemux.texts().some(t => t.includes("echo b"))`)
	b.keys("\r")
	b.until("what was pasted has run", "tandemux.texts().some(t => /\\na *\\n(.*\\n)?b *\\n/.test(t))")

	if path := lookPath("vim"); path != "" {
		b.keys("vim -u NONE -N notes.txt\r")
		b.until("vim", `tandemux.texts().some(t => t.includes("notes.txt") && /^~ *$/m.test(t))`)
		b.keys("ihello from a browser\x1b:wq\r")
		file := filepath.Join(m.dir, "home", "notes.txt")
		wait(t, "vim's file", func() bool {
			text, err := os.ReadFile(file)
			return err == nil && string(text) == "hello from a browser\n"
		})
	}
	b.clean()
}

// TestHostDies: the host dies while keys are typed; each is typed once.
func TestHostDies(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.terminal()
	b.keys("cat > typed.txt\r")
	b.shows("cat > typed.txt\n")
	b.keys("before ")
	m.kill()
	b.keys("during ")
	m.must("ls")
	b.until("connected again", `document.querySelector(".page")?.dataset.line === "online"`)
	b.keys("after\r")
	file := filepath.Join(m.dir, "home", "typed.txt")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err == nil && string(text) == "before during after\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("typed was %q, %v; the page shows %s, %s", text, err, b.eval(`tandemux.texts().join()`), b.eval(`document.body.innerText`))
		}
	}
	b.shot("after-the-host-died")
	b.clean()
}

// TestTake: nothing is typed into another's terminal before it is taken, and an agent gets
// it back.
func TestTake(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	m.must("new", "--background", "--name", "build", "--", "cat")
	b.pair(m.offer())
	b.click("Terminals")
	b.until("the list", `document.body.innerText.includes("build")`)
	b.click("build")
	b.until("its screen", `document.activeElement.tagName === "TEXTAREA"`)
	b.keys("stolen\r")
	b.until("a hint", `document.body.innerText.includes("Take it first")`)
	b.click("Take")
	if b.eval(`!!document.querySelector(".dialog")`) == "true" {
		b.shot("take")
		b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "Take").click(), true`)
	}
	b.until("it is ours", `document.querySelector(".pane .who").innerText === "yours"`)
	b.eval(`document.querySelector(".pane textarea").focus(), true`)
	b.keys("mine\r")
	b.shows("mine\nmine")
	if text := b.eval(`tandemux.texts().join()`); strings.Contains(text, "stolen") {
		t.Errorf("keys were typed before it was taken: %s", text)
	}
	b.clean()
}

// TestApproval: a tool call is shown whole, nothing is chosen before, and the answer
// reaches the agent; an agent's terminal is taken in mid-run and handed back.
func TestApproval(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.click("Chats")
	b.click("New chat with Fake")
	b.until("a chat", `!!document.querySelector(".chat textarea")`)
	b.do(chromedp.Focus(".chat textarea"))
	b.keys("permit\r")
	b.eval(`document.querySelector(".places button").click(), true`) // its label has a number when something waits
	b.until("a question in the inbox", `document.querySelectorAll(".inbox .approval").length === 1`)
	b.shot("approval")
	if text := b.eval(`document.querySelector(".inbox .approval pre").innerText`); text != "rm -rf ./build‹202E›"+hostile {
		t.Errorf("the call is shown as %s", text)
	}
	if b.eval(`document.querySelector(".approval").contains(document.activeElement)`) != "false" {
		t.Error("an answer has the focus")
	}
	if got := b.eval(`[...document.querySelectorAll(".inbox .approval button")].map(e => e.innerText.split("\n")[0]).join()`); !strings.HasPrefix(got, "Reject") {
		t.Errorf("the answers are %s", got)
	}
	b.click("Allow")
	b.until("the agent's word", `document.body.innerText.includes("it was answered: once")`)
	b.until("an empty inbox", `document.body.innerText.includes("Nothing waits")`)
	b.do(chromedp.Focus(".chat textarea"))
	b.keys("count\r")
	b.click("Terminals")
	b.until("the agent's terminal", `!!document.querySelector(".row.held-agent")`)
	b.eval(`document.querySelector(".row.held-agent").click(), true`)
	b.shows("count 3")
	b.click("Take")
	b.until("a question", `!!document.querySelector(".dialog") || document.querySelector(".pane .who").innerText === "yours"`)
	b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "Take")?.click(), true`)
	b.until("it is ours", `document.querySelector(".pane .who").innerText === "yours"`)
	b.shot("reclaimed")
	b.click("Hand back")
	b.until("a question, or the agent has it", `!!document.querySelector(".dialog") || !!document.querySelector(".pane header.held-agent, .pane header.held-background")`)
	b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "Hand back")?.click(), true`)
	b.until("the agent has it", `!!document.querySelector(".pane header.held-agent, .pane header.held-background")`)
	if b.eval(`String(window.hacked)`) != "undefined" {
		t.Error("a text became a script")
	}
	b.clean()
}

// TestPhone: on a small screen with touch the inbox comes first, a terminal is taken by a
// large button, and a bar has the keys that are missing.
func TestPhone(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	m.must("new", "--background", "--name", "build", "--", "cat", "-v")
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch), emulation.SetTouchEmulationEnabled(true))
	b.pair(m.offer("--name", "phone"))
	b.until("the inbox first", `!!document.querySelector(".phone .inbox") && !document.querySelector(".pane")`)
	b.shot("phone-inbox")
	b.click("Terminals")
	b.click("build")
	b.until("a large button", `document.querySelector(".pane .take")?.getBoundingClientRect().height >= 44`)
	b.shot("phone-terminal")
	b.eval(`document.querySelector(".pane .take").click(), true`)
	b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "Take")?.click(), true`)
	b.until("keys", `!!document.querySelector(".keys")`)
	b.click("esc")
	b.click("↑")
	b.shows("^[^[[A")
	b.click("ctrl")
	b.eval(`document.querySelector(".pane textarea").focus(), true`)
	b.keys("g")
	b.shows("^[^[[A^G")
	b.shot("phone")

	// Two fingers apart make letters larger, and the program's screen smaller.
	var x, y float64
	b.do(chromedp.Evaluate(`document.querySelector(".screen").getBoundingClientRect().x + 150`, &x), chromedp.Evaluate(`document.querySelector(".screen").getBoundingClientRect().y + 100`, &y))
	cols := b.eval(`tandemux.get([...tandemux.feeds.keys()][0]).cols`)
	touch := func(kind input.TouchType, apart ...float64) {
		t.Helper()
		var at []*input.TouchPoint
		for _, d := range apart {
			at = append(at, &input.TouchPoint{X: x + d, Y: y, ID: float64(len(at) + 1)})
		}
		b.do(input.DispatchTouchEvent(kind, at))
	}
	touch(input.TouchStart, 0, 60)
	touch(input.TouchMove, 0, 80)
	touch(input.TouchMove, 0, 100)
	touch(input.TouchEnd)
	b.until("larger letters", `tandemux.settings.font === 20`)
	b.until("fewer columns", `tandemux.get([...tandemux.feeds.keys()][0]).cols < `+cols)
	b.shot("phone-large")

	// To be read: the commands, folded.
	b.click("commands")
	b.until("a reading mode", `!!document.querySelector(".reading")`)
	b.shot("phone-reading")
	b.click("‹ terminal")
	b.until("the terminal again", `!!document.querySelector(".pane")`)
	b.do(chromedp.NavigateBack())
	b.until("the list again", `!!document.querySelector(".list")`)
	if wide := b.eval(`document.documentElement.scrollWidth <= innerWidth`); wide != "true" {
		t.Error("the page is wider than the phone")
	}
	b.clean()
}

// TestHostile: what terminals print, are called and link to becomes no script, sets no
// clipboard of a page that does not hold them, and types nothing.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	script := filepath.Join(m.dir, "home", "hostile.sh")
	osc := `\033]0;` + hostile + `\007\033]2;` + hostile + `\007\033]7;file:///` + hostile + `\007\033]9;` + hostile + `\007\033]777;notify;` + hostile + `;` + hostile + `\007` +
		`\033]8;;javascript:window.hacked=1\007click\033]8;;\007 \033]8;;https://evil.example/\007https://good.example/\033]8;;\007` +
		`\033]52;c;?\007\033]10;?\007\033]11;?\007\033[c\033[>c\033[6n\033[>q\033[?1$p\033P$qm\033\\\033[21t` + `\033]1337;File=inline=1:////\007\033Pq"1;1;99999;99999#0~\033\\\033_Ga=T,f=100;////\033\\\n`
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '"+strings.ReplaceAll(osc, "'", "'\\''")+"'\nprintf '%s\\n' '"+hostile+"' marker\ncat -v\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.must("new", "--background", "--name", `<img src=x onerror=window.hacked=1>`, "--", script)
	b.pair(m.offer())
	b.click("Terminals")
	b.until("the list", `!!document.querySelector(".row")`)
	b.eval(`document.querySelector(".row").click(), true`)
	b.shows("marker")
	b.eval(`document.querySelector(".pane .take").click(), true`)
	b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "Take")?.click(), true`)
	b.until("it is ours", `document.querySelector(".pane .who").innerText === "yours"`)
	b.eval(`document.querySelector(".pane textarea").focus(), true`)
	b.keys("\r")
	b.until("cat's answer", `tandemux.texts()[0].replaceAll("\n", "").split("22;28c").length > 2`)
	b.keys("end\r")
	b.shows("\nend\nend")
	// What it asked was answered once, by the host: shown as it was typed, and by cat.
	if n := b.eval(`tandemux.texts()[0].replaceAll("\n", "").split("22;28c").length - 1`); n != "2" {
		t.Errorf("the question what terminal it is was answered %s times, each shown twice", n)
	}
	b.shot("hostile")
	if b.eval(`String(window.hacked)`) != "undefined" {
		t.Error("a text became a script")
	}
	if n := b.eval(`document.querySelectorAll("img, script:not([src]), iframe, a[href^=javascript]").length`); n != "0" {
		t.Errorf("%s elements came from a text", n)
	}
	for _, p := range b.said() {
		t.Error(p)
	}
}

var reload = chromedp.Reload()

func focus(selector string) chromedp.Action { return chromedp.Focus(selector) }

func navigate(to string) chromedp.Action { return chromedp.Navigate(to) }

// promise gives what a promise of the page's is kept with, as text.
func (b *browser) promise(js string) string {
	b.Helper()
	var v any
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(js, &v, awaited)); err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(v)
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not reached: %s", what)
		}
	}
}
