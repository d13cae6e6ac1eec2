package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
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
	// What the test tool has the browser tell of each style sheet takes as long as the page.
	b.do(css.Disable(), chromedp.ActionFunc(func(ctx context.Context) error {
		return runScriptEverywhere(ctx, `(() => { const f = () => { if (window.tandemux?.texts().filter(t => t.includes("#") || t.includes("$")).length === 4) window.shown = performance.now(); else requestAnimationFrame(f) }; f() })()`)
	}))
	var shown, begun []float64
	for range 9 {
		b.do(chromedp.Reload())
		b.until("four panes", `!!window.shown`)
		shown = append(shown, b.evalSlowly(`shown`))
		begun = append(begun, b.evalSlowly(`performance.getEntriesByName("begun")[0].startTime`))
	}
	slices.Sort(shown)
	slices.Sort(begun)
	t.Logf("from the reload to four panes, the median of 9: %.0f ms (%.0f to %.0f), of which the browser took %.0f until the page ran", shown[4], shown[0], shown[8], begun[4])

	// The end of a flood.
	big := filepath.Join(m.dir, "home", "big")
	line := strings.Repeat("0123456789", 7) + "\n"
	if err := os.WriteFile(big, []byte(strings.Repeat(line, (100<<20)/len(line))), 0o600); err != nil {
		t.Fatal(err)
	}
	b.eval(`document.querySelector(".pane textarea").focus(), true`)
	began := time.Now()
	b.keys("cat big; echo e\"n\"d\r")
	b.evalSlowly(`new Promise(done => { const f = () => tandemux.texts().some(t => /^end *$/m.test(t)) ? done(0) : setTimeout(f, 20); f() })`)
	page := time.Since(began)
	t.Logf("100 MiB to its end: %v", page.Round(10*time.Millisecond))
	if tui := m.floodTUI(); tui > 0 {
		t.Logf("in the terminal interface: %v; the page takes %.1f times that", tui.Round(10*time.Millisecond), page.Seconds()/tui.Seconds())
		if page > 6*tui+2*time.Second {
			t.Errorf("the page takes %v for what the terminal interface does in %v", page, tui)
		}
	}
	b.clean()
}

// floodTUI is how long the terminal interface takes for the same, 0 without the program
// script, which gives it a terminal.
func (m *machine) floodTUI() time.Duration {
	m.Helper()
	if lookPath("script") == "" {
		return 0
	}
	path, _ := program()
	cmd := exec.Command("script", "-qfec", "stty rows 40 cols 120; exec "+path+" attach speed", "/dev/null")
	cmd.Env, cmd.Dir = append(m.env, "TERM=xterm-256color"), filepath.Join(m.dir, "home")
	in, err := cmd.StdinPipe()
	if err != nil {
		m.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it is killed
	defer cmd.Process.Kill()
	var mu sync.Mutex
	var all strings.Builder
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := out.Read(buf)
			mu.Lock()
			all.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	shown := func(text string) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return strings.Contains(all.String(), text) }
	}
	io.WriteString(in, "echo go$((1))ing\r")
	wait(m.T, "the terminal interface's prompt", shown("go1ing"))
	began := time.Now()
	io.WriteString(in, "cat big; echo fin$((1))shed\r")
	for end := began.Add(3 * time.Minute); !shown("fin1shed")(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			m.Fatal("the end does not show in the terminal interface")
		}
	}
	return time.Since(began)
}

// TestFlat: an hour's flood leaves the page as large as it was, and a page on which nothing
// happens does nothing. TANDEMUX_SOAK says how long it floods.
func TestFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	long := 10 * time.Second
	if d, err := time.ParseDuration(os.Getenv("TANDEMUX_SOAK")); err == nil {
		long = d
	}
	m := newMachine(t)
	fills := min(long/5, 2*time.Minute) // the history
	b := m.browseFor(fills + long + 5*time.Minute)
	b.pair(m.offer())
	b.terminal()
	b.keys("while :; do seq 1000000; done\r")
	time.Sleep(fills)
	early := b.heap()
	t.Logf("the page's heap: %.1f MB", early/1e6)
	var late float64
	for i := range time.Duration(6) {
		time.Sleep(long / 6)
		late = b.heap()
		t.Logf("%v later: %.1f MB", (i+1)*long/6, late/1e6)
	}
	if late > early*1.2+8e6 {
		t.Errorf("the page has grown from %.0f to %.0f bytes", early, late)
	}
	b.eval(`tandemux.type([...tandemux.feeds.keys()][0], "\x03"), true`)
	b.until("quiet", `[...tandemux.feeds.values()].every(f => !f.skims && !f.settles && !f.waiting) && tandemux.texts().some(t => /\^C.*\n.*[#$] *\n*$/.test(t))`)
	// What has begun, such as the fading of a scrollbar, may end; then nothing is done.
	for tries := 10; ; tries-- {
		was := b.metrics()
		time.Sleep(3 * time.Second)
		is := b.metrics()
		more := func(k string) float64 { return is[k] - was[k] }
		t.Logf("in 3 s of nothing: script %.1f ms, all tasks %.1f ms, layouts %.0f, styles %.0f", 1e3*more("ScriptDuration"), 1e3*more("TaskDuration"), more("LayoutCount"), more("RecalcStyleCount"))
		if more("LayoutCount") == 0 && more("RecalcStyleCount") == 0 && more("ScriptDuration") < 0.005 {
			break
		}
		if tries == 0 {
			t.Fatal("the page goes on to work while nothing happens")
		}
	}
	b.clean()
}

// heap is the page's, without what is garbage.
func (b *browser) heap() float64 {
	b.Helper()
	b.do(heapprofiler.CollectGarbage())
	return b.metrics()["JSHeapUsedSize"]
}

func (b *browser) metrics() map[string]float64 {
	b.Helper()
	all := map[string]float64{}
	b.do(performance.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		list, err := performance.GetMetrics().Do(ctx)
		for _, m := range list {
			all[m.Name] = m.Value
		}
		return err
	}))
	return all
}

// evalSlowly gives a number that the page takes its time for.
func (b *browser) evalSlowly(js string) float64 {
	b.Helper()
	var v float64
	b.do(chromedp.Evaluate(js, &v, awaited))
	return v
}
