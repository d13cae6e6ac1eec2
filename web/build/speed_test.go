package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestSpeed tells how long what people wait for takes, and fails where that is far beyond
// what it should be: machines of tests are slow and busy.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.terminal()

	// From a key to its letter on the screen.
	b.keys("cat\r")
	b.until("cat", `tandemux.texts()[0].includes("cat\n")`)
	p50 := b.evalSlowly(`(async () => {
		const [uri, feed] = [...tandemux.feeds][0], screen = [...feed.screens][0], times = [];
		const frame = () => new Promise(requestAnimationFrame), turn = () => new Promise(f => { const c = new MessageChannel(); c.port1.onmessage = f; c.port2.postMessage(0); });
		for (let i = 1; i <= 60; i++) {
			const t = performance.now();
			tandemux.type(uri, "x");
			while (!screen.text().includes("x".repeat(i))) await turn();
			times.push(performance.now() - t);
			await frame();
		}
		return times.sort((a, b) => a - b)[30];
	})()`)
	t.Logf("key to letter, p50: %.1f ms", p50)
	if p50 > 250 {
		t.Errorf("a key takes %.0f ms", p50)
	}
	b.eval(`tandemux.type([...tandemux.feeds.keys()][0], "\x03"), true`)

	// A page with four panes.
	for range 3 {
		n := b.eval(`document.querySelectorAll(".pane").length + 1`)
		b.click("split to the right")
		b.until("another pane", `document.querySelectorAll(".pane").length === `+n)
	}
	b.until("four prompts", `tandemux.texts().filter(t => /[#$] *\n*$/.test(t)).length === 4`)
	b.do(chromedp.Reload())
	b.until("four panes", `window.tandemux?.texts().filter(t => t.includes("#") || t.includes("$")).length === 4`)
	attach := b.evalSlowly(`performance.now()`)
	t.Logf("from the reload to four panes: at most %.0f ms", attach)

	// The end of a flood.
	big := filepath.Join(m.dir, "home", "big")
	line := strings.Repeat("0123456789", 7) + "\n"
	if err := os.WriteFile(big, []byte(strings.Repeat(line, (100<<20)/len(line))), 0o600); err != nil {
		t.Fatal(err)
	}
	b.eval(`document.querySelector(".pane textarea").focus(), true`)
	began := time.Now()
	b.keys("cat big; echo e\"n\"d\r")
	for end := began.Add(3 * time.Minute); b.eval(`tandemux.texts().some(t => /^end *$/m.test(t))`) != "true"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the end of 100 MiB does not show")
		}
	}
	t.Logf("100 MiB to its end: %v", time.Since(began).Round(10*time.Millisecond))
	b.clean()
}

// evalSlowly gives a number that the page takes its time for.
func (b *browser) evalSlowly(js string) float64 {
	b.Helper()
	var v float64
	b.do(chromedp.Evaluate(js, &v, awaited))
	return v
}
