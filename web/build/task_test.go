package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTask: a task is read, its changes are commented on, which the agent is given with the
// next message, and they go home with another message; then it is deleted.
func TestTask(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	if lookPath("git") == "" {
		t.Skip("there is no git")
	}
	m := newMachine(t)
	repo := filepath.Join(m.dir, "home", "repo")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=A", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = m.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	if err := os.MkdirAll(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, "code.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "A")
	git("config", "user.email", "a@b")
	git("add", "-A")
	git("commit", "-qm", "first")
	m.must("task", "new", "--no-sandbox", "--agent", "fake", "--name", "fixer", "--workspace", "worktree:"+repo, "-m", "improve it", "--wait")

	b := m.browse()
	b.pair(m.offer())
	b.click("Tasks")
	b.click("fixer")
	b.until("what the agent said, drawn", `document.querySelector(".markdown h4")?.innerText === "Done" && document.querySelector(".markdown b").innerText === "better" && document.querySelectorAll(".markdown li").length === 3 && document.querySelector(".markdown td:nth-child(2) i")?.innerText === "2"`)
	if got := b.eval(`[...document.querySelectorAll(".markdown .link")].map(e => e.title).join()`); got != "https://good.example/,https://evil.example/x.png" { // a picture is a link
		t.Errorf("the links are %s", got)
	}
	if n := b.eval(`document.querySelectorAll(".markdown img, .markdown a, .markdown script").length`); n != "0" || b.eval(`String(window.hacked)`) != "undefined" {
		t.Errorf("%s elements came from a text", n)
	}
	b.shot("task-chat")

	// A draft outlives the page.
	b.do(chromedp.Focus(".chat textarea"))
	b.keys("see to ")
	b.do(chromedp.Reload())
	b.until("connected", `document.querySelector(".page")?.dataset.line === "online"`)
	b.click("Tasks")
	b.click("fixer")
	b.until("the draft", `document.querySelector(".task .chat textarea")?.value === "see to "`)

	b.eval(`[...document.querySelectorAll("[role=tab]")].find(e => e.innerText === "Changes").click(), true`)
	b.until("the change", `document.querySelector(".hunk .line.added code")?.innerText === "+from the agent"`)
	b.click("comment on line 2")
	b.until("a question", `document.activeElement.tagName === "INPUT"`)
	b.keys("why this?\r")
	b.until("the comment", `document.querySelector(".note")?.innerText.includes("goes with the next message")`)
	b.shot("browser-task")
	b.eval(`[...document.querySelectorAll("[role=tab]")].find(e => e.innerText === "Conversation").click(), true`)
	b.until("the chat", `!!document.querySelector(".task .chat textarea")`)
	b.do(chromedp.Focus(".chat textarea"))
	b.keys("it\r")
	b.until("the agent has it", `document.querySelector(".task .turns").innerText.includes("it has the comment")`)
	b.eval(`[...document.querySelectorAll("[role=tab]")].find(e => e.innerText === "Changes").click(), true`)
	b.until("so it says", `document.querySelector(".note")?.innerText.includes("the agent has it")`)

	b.until("it rests", `document.querySelector(".task .who").innerText.trim() === "idle"`)
	b.click("Merge")
	b.until("the plan", `document.querySelector(".merge")?.innerText.includes("One file goes into main")`)
	b.eval(`(() => { const e = document.querySelector(".merge textarea"); e.value = "from the page"; e.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	b.shot("merge")
	b.eval(`document.querySelector(".merge .yes").click(), true`)
	b.until("merged", `!document.querySelector(".merge")`)
	if log := git("log", "--format=%s", "-1"); strings.TrimSpace(log) != "from the page" {
		t.Errorf("the commit is %s", log)
	}
	b.click("Delete")
	b.eval(`document.querySelector(".dialog .yes").click(), true`)
	b.until("it is gone", `!document.querySelector(".task") && document.body.innerText.includes("No task.")`)
	b.clean()
}
