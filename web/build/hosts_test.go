package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// beside makes a second host, which the first one's owner calls build.
func (m *machine) beside() *machine {
	m.Helper()
	far := newMachine(m.T)
	far.must("new", "--background", "--name", "there")
	m.must("hosts", "add", "build", "unix://"+filepath.Join(far.dir, "run", "tandemux", "host.sock"))
	return far
}

// status is what the host answers a page that asks for a path.
func (b *browser) status(path string) string {
	b.Helper()
	return b.promise(fmt.Sprintf(`fetch(%q, {headers: {"X-Tandemux-Page": tandemux.pass.key}}).then(r => r.status)`, path))
}

// command runs one of the palette.
func (b *browser) command(line string) {
	b.Helper()
	b.eval(fmt.Sprintf(`(tandemux.ui.palette(%q), true)`, line))
	b.until("the palette", `document.querySelector(".palette input")?.value === `+fmt.Sprintf("%q", line))
	b.do(chromedp.Focus(".palette input"))
	b.keys("\r")
}

// TestHosts: the page shows two hosts as one: a pane of each in one layout, one list, one
// inbox; a host that dies greys out and comes back by itself; and it ends with the token.
func TestHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer("--name", "desk"))
	b.terminal()
	own := b.eval(`tandemux.active`)

	// The name is given while the page shows.
	far := m.beside()
	b.until("the other host", `tandemux.hosts.all.get("build")?.online`)
	b.click("Terminals")
	b.until("its terminal in the list", `[...document.querySelectorAll(".row b")].some(e => e.innerText === "build:there")`)
	if n := b.eval(`tandemux.hosts.all.get("build").clientId !== tandemux.conn.clientId`); n != "true" {
		t.Error("the page has one id at both hosts")
	}

	// A pane of each in one tab.
	b.command("new-on build")
	b.until("a pane of the other host", `tandemux.active?.startsWith("ahp-terminal://build/")`)
	there := b.eval(`tandemux.active`)
	b.until("in the document", fmt.Sprintf(`JSON.stringify(tandemux.get("x-tandemux-layout:/main").doc).includes(%q)`, there))
	if got := b.promise(fmt.Sprintf(`tandemux.conn.call("x-tandemux/do", {channel: "x-tandemux-layout:/main", command: "join-pane", args: ["right"], pane: %q, with: %q}).then(r => r.pane ? "joined" : JSON.stringify(r), e => e.message)`, own, there)); got != "joined" {
		t.Fatalf("joining says %s", got)
	}
	b.until("both panes", `document.querySelectorAll(".pane").length === 2`)
	b.until("both prompts", `tandemux.texts().filter(t => /[#$] *\n*$/.test(t)).length === 2`)
	typed := func(uri, text string) {
		t.Helper()
		b.eval(fmt.Sprintf(`document.querySelector('.pane[data-uri=%q] textarea').focus(), true`, uri))
		b.until("the focus", fmt.Sprintf(`tandemux.active === %q && document.activeElement.closest(".pane")?.dataset.uri === %[1]q`, uri))
		b.keys(text)
	}
	home := fmt.Sprintf("%q", far.dir)
	typed(own, "echo own-$((40+2))\r")
	typed(there, "echo $HOME far-$((40+2))\r")
	b.shows("\nown-42")
	b.until("the other host's answer", fmt.Sprintf(`tandemux.screen(%q).text().includes(%s) && tandemux.screen(%[1]q).text().includes("far-42")`, there, home))
	if got := far.must("ls"); strings.Count(got, "\n") < 3 {
		t.Errorf("the other host has %s", got)
	}
	b.shot("hosts")

	// A split beside a pane of the other host is there, and closing ends it there.
	typed(there, "")
	b.command("split-down")
	b.until("three panes", `document.querySelectorAll(".pane").length === 3 && tandemux.active?.startsWith("ahp-terminal://build/") && tandemux.active !== `+fmt.Sprintf("%q", there))
	split := b.eval(`tandemux.active`)
	b.until("its prompt", fmt.Sprintf(`/[#$] *\n*$/.test(tandemux.screen(%q)?.text() ?? "")`, split))
	b.command("close-pane")
	b.until("closed, or a question", `document.querySelectorAll(".pane").length === 2 || !!document.querySelector(".dialog:not(.palette)")`)
	b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "End")?.click(), true`)
	b.until("two panes", `document.querySelectorAll(".pane").length === 2`)
	b.until("ended there", fmt.Sprintf(`!tandemux.terminal(%q)`, split))

	// One search, and one history.
	b.command("search-all far-42")
	b.until("a line of the other host", `[...document.querySelectorAll(".found .row")].some(e => e.querySelector("code").innerText.includes("far-42") && e.querySelector("small").innerText.startsWith("build:"))`)
	b.shot("hosts-search")
	b.command("history echo")
	b.until("commands of both", `["own-", "far-"].every(w => [...document.querySelectorAll(".found .row code")].some(e => e.innerText.includes(w)))`)
	b.eval(`[...document.querySelectorAll(".found .row")].find(e => e.innerText.includes("far-")).click(), true`)
	b.until("its output, unfolded", `/far-42/.test(document.querySelector(".reading details[open] pre")?.innerText)`)
	b.click("‹ terminal")
	b.until("the search again", `!!document.querySelector(".found")`)
	b.click("‹ back")
	b.until("the layout", `document.querySelectorAll(".pane").length === 2`)

	// The interface of the terminal has the same document.
	if doc := m.must("layout", "ls"); !strings.Contains(doc, "main") {
		t.Errorf("layouts: %s", doc)
	}

	// The host dies: its pane greys, the other one works, nothing is typed twice or lost in silence.
	typed(there, "cat > typed.txt\r")
	b.until("cat", fmt.Sprintf(`tandemux.screen(%q).text().includes("typed.txt\n")`, there))
	b.keys("before ")
	file := filepath.Join(far.dir, "home", "typed.txt")
	b.until("echoed", fmt.Sprintf(`tandemux.screen(%q).text().includes("before ")`, there))
	far.kill()
	b.until("grey", fmt.Sprintf(`document.querySelector('.pane[data-uri=%q]').classList.contains("away") && /away since \d\d:\d\d/.test(document.querySelector('.pane[data-uri=%[1]q] .who').innerText)`, there))
	b.shot("hosts-away")
	b.keys("x")
	b.until("it is said", `/no connection to build since .*nothing was sent/.test(document.querySelector(".said")?.innerText)`)
	typed(own, "echo still-$((40+2))\r")
	b.shows("\nstill-42")
	far.must("ls")
	b.until("back", fmt.Sprintf(`!document.querySelector('.pane[data-uri=%q]').classList.contains("away")`, there))
	typed(there, "after\r\x04")
	wait(t, "what was typed", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == "before after\n"
	})

	// One that says nothing, as a machine that sleeps, is found out and comes back, too.
	if err := syscall.Kill(far.host(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(far.host(), syscall.SIGCONT) }) //nolint:errcheck // it goes on already
	b.eval(`(tandemux.hosts.all.get("build").prove(), true)`)       // as ten seconds after a key
	b.until("grey", fmt.Sprintf(`document.querySelector('.pane[data-uri=%q]').classList.contains("away")`, there))
	if err := syscall.Kill(far.host(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	b.until("back", fmt.Sprintf(`!document.querySelector('.pane[data-uri=%q]').classList.contains("away")`, there))

	// A task of the other host is in the list, and is read.
	far.must("task", "new", "--no-sandbox", "--agent", "fake", "--name", "fixer", "--workspace", "none", "-m", "say it", "--wait")
	b.click("Tasks")
	b.click("build:fixer")
	b.until("its conversation", `/you said \d+ bytes/.test(document.querySelector(".task .turns")?.innerText)`)
	b.click("Delete")
	b.eval(`document.querySelector(".dialog .yes").click(), true`)
	b.until("it is gone", `!document.querySelector(".task") && document.body.innerText.includes("No task.")`)

	// An agent of the other host asks, in the one inbox, and is answered.
	b.click("Chats")
	b.click("New chat with Fake on build")
	b.until("a chat", `!!document.querySelector(".chat textarea")`)
	b.do(chromedp.Focus(".chat textarea"))
	b.until("the focus", `document.activeElement.tagName === "TEXTAREA" && !!document.activeElement.closest(".chat")`)
	b.keys("permit\r")
	b.eval(`document.querySelector(".places button").click(), true`)
	b.until("a question in the inbox", `document.querySelectorAll(".inbox .approval").length === 1 && document.querySelector(".inbox .item b").innerText.startsWith("build:")`)
	b.shot("hosts-approval")
	b.click("Allow")
	b.until("the agent's word", `document.body.innerText.includes("it was answered: once")`)
	b.until("an empty inbox", `document.body.innerText.includes("Nothing waits")`)

	// Another name, and none.
	m.must("hosts", "rm", "build")
	m.must("hosts", "add", "gpu", "unix://"+filepath.Join(far.dir, "run", "tandemux", "host.sock"))
	b.until("the new name", `[...tandemux.hosts.all.keys()].join() === "gpu" && tandemux.hosts.all.get("gpu").online`)
	m.must("hosts", "rm", "gpu")
	m.must("hosts", "add", "build", "unix://"+filepath.Join(far.dir, "run", "tandemux", "host.sock"))
	b.until("the old name", `tandemux.hosts.all.get("build")?.online`)

	// A phone has the same.
	phone := m.browse()
	phone.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	phone.pair(m.offer("--name", "phone"))
	far.must("send", "there", "--enter", `printf '\033]9;look here\007'`)
	phone.until("what waits at the other host", `[...document.querySelectorAll(".inbox .item")].some(e => e.innerText.includes("look here"))`)
	phone.shot("hosts-phone-inbox")
	phone.click("Terminals")
	phone.eval(`[...document.querySelectorAll(".row")].find(e => /^build:(?!there)/.test(e.innerText)).click(), true`)
	phone.until("its screen", `tandemux.texts().some(t => t.includes("far-42"))`)
	phone.shot("hosts-phone")

	// Who has not all rights is told nothing.
	guest, _ := m.shared(last(own), "--name", "ana")
	for name, link := range map[string]string{
		"one that may look": m.offer("--name", "look", "--read-only"),
		"a limited one":     m.offer("--name", "less", "--scope", "terminal:read,terminal:create,terminal:input,session,approve"),
		"a guest":           guest,
	} {
		o := m.browse()
		o.pair(link)
		for _, path := range []string{"/hosts/", "/hosts/build/ahp", "/hosts/build/api/v1/tasks", "/hosts/x/ahp"} {
			if got := o.status(path); got != "403" {
				t.Errorf("%s: %s is answered with %s", name, path, got)
			}
		}
		if o.eval(`tandemux.hosts.all.size`) != "0" {
			t.Errorf("%s knows hosts", name)
		}
	}
	if got := b.status("/hosts/build/api/v1/tasks"); got != "200" {
		t.Errorf("the tasks of the other host: %s", got)
	}
	if got := b.status("/hosts/build/api/v1/api_keys"); got != "404" {
		t.Errorf("the keys of the other host: %s", got)
	}

	// The end of the token is the end of all of it.
	id := ""
	for _, row := range strings.Split(m.must("token", "ls"), "\n") {
		if strings.Contains(row, "desk") {
			id = strings.Fields(row)[0]
		}
	}
	b.eval(`window.other = tandemux.hosts.all.get("build").ws, true`)
	m.must("token", "rm", id)
	b.until("out", `document.body.innerText.includes("not let in any more")`)
	b.until("the other line has ended", `window.other.readyState === WebSocket.CLOSED && tandemux.hosts.all.size === 0`)
	b.clean()
}

// last is the last part of an address.
func last(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }
