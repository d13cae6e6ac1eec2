package main

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDeadLine: a line that never opens and says nothing is given up for another.
func TestDeadLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		return runScriptEverywhere(ctx, `let lines = 0; window.WebSocket = new Proxy(WebSocket, {construct: (real, args) => lines++ ? new real(...args) : {readyState: 0, close() {}}})`)
	}))
	b.pair(m.offer())
	b.terminal()
	b.clean()
}

// TestLateFrame: what the host tells before the page's first frame is drawn. A guest's page
// is told nothing after that while the terminal rests.
func TestLateFrame(t *testing.T) {
	m := newMachine(t)
	m.must("new", "--background", "--name", "build", "--", "cat")
	link, _ := m.shared("build")
	g := m.browse()
	g.do(chromedp.ActionFunc(func(ctx context.Context) error {
		return runScriptEverywhere(ctx, `(() => {
			const timer = setTimeout, frame = requestAnimationFrame, late = 2000;
			window.setTimeout = (f, ms, ...more) => timer(f, performance.now() < late ? Math.max(late, ms ?? 0) : ms, ...more);
			window.requestAnimationFrame = f => performance.now() < late ? timer(f, late, late) : frame(f);
		})()`)
	}))
	g.pair(link)
	g.until("the terminal", `document.querySelector(".pane header").innerText.includes("build")`)
	g.clean()
}
