package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// machine is a host of its own, with a home of its own, and a real browser.
type machine struct {
	*testing.T
	dir  string
	env  []string
	link string
}

var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tandemux-web")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tandemux")
	build := exec.Command("go", "build", "-o", path, "./cmd/tandemux")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build tandemux: %w: %s", err, out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		beAgent()
		return
	}
	code := m.Run()
	if built {
		path, _ := program()
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

var built bool

// chromium is the browser's program; without one the test is skipped.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium")
	return ""
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	chromium(t)
	if _, err := os.Stat("../../host/web/dist/index.html.zst"); err != nil {
		t.Skip("the page is not bundled: go run .")
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	built = true
	dir, err := os.MkdirTemp("", "tmw")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{T: t, dir: dir}
	for _, d := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "home", ".config", "tandemux"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[agents.fake]\ncommand = [%q]\ntitle = \"Fake\"\nenv = { %s = \"1\" }\n", self, agentVariable)
	if err := os.WriteFile(filepath.Join(dir, "home", ".config", "tandemux", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"), "SHELL=/bin/bash",
		"PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "PS1=$ ", "TANDEMUX_HOST=")
	t.Cleanup(func() {
		m.run("stop", "--force")
		m.run("stop")
		os.RemoveAll(dir)
	})
	return m
}

// run runs tandemux.
func (m *machine) run(args ...string) (string, error) {
	path, _ := program()
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = m.env, filepath.Join(m.dir, "home")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must is run without an error.
func (m *machine) must(args ...string) string {
	m.Helper()
	out, err := m.run(args...)
	if err != nil {
		m.Fatalf("tandemux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

var linkIn = regexp.MustCompile(`https?://\S+/web/#\S+`)

// offer gives a link that lets a browser in.
func (m *machine) offer(args ...string) string {
	m.Helper()
	return linkIn.FindString(m.must(append([]string{"web", "--no-qr"}, args...)...))
}

// browser is a page in a browser with a profile of its own.
type browser struct {
	*machine
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the console and the policy say
}

func (m *machine) browse() *browser {
	m.Helper()
	return m.browseFor(3 * time.Minute)
}

func (m *machine) browseFor(most time.Duration) *browser {
	m.Helper()
	ctx := launch(m.T, m.dir, most)
	b := &browser{machine: m, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError {
				b.problems = append(b.problems, fmt.Sprint("console: ", string(ev.Args[0].Value)))
			}
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, "exception: "+ev.ExceptionDetails.Error())
		}
	})
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		return runScriptEverywhere(ctx, `addEventListener("securitypolicyviolation", e => console.error("policy: " + e.violatedDirective + " " + e.blockedURI + " " + e.sourceFile + ":" + e.lineNumber + " " + e.sample))`)
	}))
	return b
}

// launch starts a browser with a profile of its own below dir, until the test ends.
func launch(t testing.TB, dir string, most time.Duration) context.Context {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:0:0], chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(filepath.Join(dir, "chromium-"+fmt.Sprint(time.Now().UnixNano()))))
	for _, f := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage", "enable-unsafe-swiftshader"} {
		flags = append(flags, chromedp.Flag(f, true))
	}
	flags = append(flags, chromedp.WindowSize(1280, 800))
	alloc, end := chromedp.NewExecAllocator(context.Background(), flags...)
	root, cancel := chromedp.NewContext(alloc)
	ctx, stop := context.WithTimeout(root, most)
	t.Cleanup(func() {
		// One that is told to close ends its other processes, which write to the profile.
		closing, done := context.WithTimeout(root, 10*time.Second)
		defer done()
		_ = chromedp.Cancel(closing)
		stop()
		cancel()
		end()
	})
	return ctx
}

func (b *browser) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.shot("failed-" + b.Name())
		b.Fatalf("%v; problems: %v; page: %s", err, b.said(), b.eval(`document.body.innerText`))
	}
}

func (b *browser) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.problems...)
}

// eval gives a value of the page's, as text.
func (b *browser) eval(js string) string {
	b.Helper()
	var v any
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(js, &v)); err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(v)
}

// until waits for a condition of the page's.
func (b *browser) until(what, js string) {
	b.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		got := b.eval(js)
		if got == "true" {
			return
		}
		if time.Now().After(deadline) {
			b.shot("failed-" + b.Name())
			log, _ := os.ReadFile(filepath.Join(b.dir, "home", ".local", "state", "tandemux", "host.log"))
			b.Logf("the host's log: %s", log)
			b.Fatalf("not %s: %s is %s; problems: %v; page: %s; terminals: %s", what, js, got, b.said(), b.eval(`document.body.innerText`), b.eval(`JSON.stringify(tandemux.texts()) + " line: " + tandemux.conn.ws?.readyState + " " + tandemux.conn.lastSeq + " " + tandemux.conn.calls.size + " " + tandemux.conn.state`))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// shows waits for text on a terminal.
func (b *browser) shows(text string) {
	b.Helper()
	b.until("shown: "+text, fmt.Sprintf(`tandemux.texts().some(t => t.includes(%q))`, text))
}

// shot keeps a picture where TANDEMUX_SHOTS says.
func (b *browser) shot(name string) {
	dir := os.Getenv("TANDEMUX_SHOTS")
	if dir == "" {
		return
	}
	var png []byte
	if chromedp.Run(b.ctx, chromedp.CaptureScreenshot(&png)) == nil {
		os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o644)
	}
}

// pair opens a link of an offer and waits for the page.
func (b *browser) pair(link string) {
	b.Helper()
	b.do(chromedp.Navigate(link))
	b.until("connected", `document.querySelector(".page")?.dataset.line === "online"`)
}

// clean fails where the console or the policy said something.
func (b *browser) clean() {
	b.Helper()
	for _, p := range b.said() {
		b.Error(p)
	}
}

// keys types, as a keyboard does: chromedp's own way brings each letter twice, once more as
// a character.
func (b *browser) keys(text string) {
	b.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		for _, r := range text {
			if r >= ' ' {
				for _, kind := range []input.KeyType{input.KeyDown, input.KeyUp} {
					if err := input.DispatchKeyEvent(kind).WithKey(string(r)).WithText(string(r)).Do(ctx); err != nil {
						return err
					}
				}
				continue
			}
			for _, e := range kb.Encode(r) {
				if e.Type == input.KeyChar {
					continue
				}
				if e.Type == input.KeyRawDown && e.Text != "" {
					e.Type = input.KeyDown
				}
				if err := e.Do(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// lookPath is a program's path, empty where it is missing.
func lookPath(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// awaited waits for a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
