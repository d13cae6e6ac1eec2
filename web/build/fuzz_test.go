package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"
)

// The page's parsers run in a real browser: what its engine for regular expressions takes
// hours for, and what it makes of elements, is to be found there.
const parsers = `
import {render} from "preact";
import {parse} from "./diff";
import {Markdown} from "./markdown";

const elements = new Set("DIV P H3 H4 H5 H6 HR BLOCKQUOTE UL OL LI FIGURE FIGCAPTION BUTTON PRE TABLE THEAD TBODY TR TH TD B I S CODE".split(" "));
const attributes = new Set(["class", "title", "tabindex", "start"]);
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u;
let forbidden = "";
addEventListener("securitypolicyviolation", (e) => (forbidden ||= e.violatedDirective + " " + e.blockedURI));

globalThis.markdown = (text) => {
	const into = document.body.appendChild(document.createElement("div"));
	const asked = [];
	render(<Markdown store={{ask: (q) => asked.push(q), copy() {}}} text={text} />, into);
	const faults = [];
	for (const e of into.querySelectorAll("*")) {
		if (!elements.has(e.tagName)) faults.push("an element " + e.tagName);
		for (const a of e.attributes) if (!attributes.has(a.name)) faults.push("an attribute " + a.name + " of " + e.tagName);
		if (e.className === "link") {
			asked.length = 0;
			e.click();
			const to = asked[0]?.detail;
			if (asked.length !== 1 || to !== e.title || !/^https?:\/\//.test(to) || new URL(to).href !== to || new URL(to).username || hidden.test(to)) faults.push("a link that asks for " + JSON.stringify(asked) + " with the title " + e.title);
		}
	}
	const seen = into.textContent.replace(/[\n\t\u200d\ufe0f]/g, "");
	if (hidden.test(seen)) faults.push("a character that hides: " + JSON.stringify(seen.match(hidden)));
	render(null, into);
	into.remove();
	if (globalThis.hacked) faults.push("a script ran");
	return [...new Set(faults), forbidden].filter(Boolean).join("; ");
};

globalThis.diff = (text) => {
	const files = parse(text), lines = text.split("\n");
	let at = 0; // in lines: none of a hunk comes twice, or in another order
	for (const f of files) {
		if (typeof f.path !== "string" || typeof (f.from ?? "") !== "string") return "a path that is no text";
		for (const h of f.hunks) {
			let old, now;
			for (const l of h.lines) {
				while (at < lines.length && !(lines[at].slice(1) === l.text && (lines[at][0] === l.kind || l.kind === " "))) at++;
				if (at++ >= lines.length) return "a line that is not in the diff: " + JSON.stringify(l);
				if ((l.kind !== "+") !== (l.old !== undefined) || (l.kind !== "-") !== (l.now !== undefined)) return "a line with other numbers than its kind has: " + JSON.stringify(l);
				for (const n of [l.old, l.now]) if (n !== undefined && !Number.isSafeInteger(n)) return "a number " + n;
				if (l.old !== undefined && old !== undefined && l.old !== old + 1) return "old lines that do not follow each other";
				if (l.now !== undefined && now !== undefined && l.now !== now + 1) return "new lines that do not follow each other";
				old = l.old ?? old;
				now = l.now ?? now;
			}
		}
	}
	return "";
};
globalThis.parse = (text) => JSON.stringify(parse(text));
`

// longestTest is far more than a text of maxTest takes on a busy machine, and nothing beside
// what a parser takes that takes its square for each of its characters.
const (
	longestTest = 10 * time.Second
	maxTest     = 32 << 10
)

// inBrowser calls one of the parsers' functions.
func inBrowser(t testing.TB) func(t testing.TB, function, text string) string {
	t.Helper()
	chromium(t)
	packages, err := readLock("lock.json")
	if err != nil {
		t.Fatal(err)
	}
	modules := t.TempDir()
	for _, p := range packages {
		if p.Name == "preact" {
			if _, err := install([]locked{p}, modules); err != nil {
				t.Skip(err)
			}
		}
	}
	r := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: parsers, ResolveDir: "../src", Loader: api.LoaderTSX},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2022, Platform: api.PlatformBrowser, NodePaths: []string{modules},
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'")
			io.WriteString(w, `<!doctype html><script src="parsers.js" defer></script><body>`) //nolint:errcheck // the browser misses it
		case "/parsers.js":
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			w.Write(r.OutputFiles[0].Contents) //nolint:errcheck // so
		}
	}))
	t.Cleanup(page.Close)
	ctx := launch(t, t.TempDir(), 24*time.Hour)
	if err := chromedp.Run(ctx, chromedp.Navigate(page.URL), chromedp.Poll(`!!globalThis.parse`, nil)); err != nil {
		t.Fatal(err)
	}
	return func(t testing.TB, function, text string) string {
		t.Helper()
		arg, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var answer string
		begun := time.Now()
		if err := chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf("%s(%s)", function, arg), &answer, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
			return p.WithTimeout(runtime.TimeDelta(longestTest.Milliseconds()))
		})); err != nil {
			t.Fatalf("%s of %d bytes, after %v: %v", function, len(text), time.Since(begun).Round(time.Millisecond), err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Logf("%s of %d bytes took %v", function, len(text), took.Round(time.Millisecond))
		}
		return answer
	}
}

// fuzz calls a function that gives what is wrong, of texts and of their repetition.
func fuzz(f *testing.F, function string, seeds []string) {
	call := inBrowser(f)
	for _, s := range seeds {
		f.Add(s, uint16(0))
		f.Add(s, uint16(1000))
	}
	f.Fuzz(func(t *testing.T, text string, more uint16) {
		if len(text) > maxTest {
			text = text[:maxTest]
		}
		if text != "" {
			text = strings.Repeat(text, 1+min(int(more), maxTest/len(text)))
		}
		if fault := call(t, function, text); fault != "" {
			t.Fatalf("%s of %q: %s", function, text[:min(len(text), 2000)], fault)
		}
	})
}

// FuzzMarkdown: no text becomes an element that loads, runs or leads where it does not say,
// none hides a part of itself, none holds the page up.
func FuzzMarkdown(f *testing.F) {
	fuzz(f, "markdown", append([]string{
		strings.Join(pieces, " "), strings.Join(pieces, "\n"), "- [x] a\n- [ ] b\n  1. c\n\n  d\n\n> e\n> - f", "a **b *c* ~~d~~** `e` [f](https://g.example/(h) \"i\") <https://j.example>",
		"`a", "**a ", "[a](", "![", "_a ", "~~a", "> ", "- ", "* a", " 1. ", "|a|\n|-|\n", "```\n", "a\\|", "https://a.", "[](https://a)", "``a` ", "a_b_", "__", "*a**b", "<https://a", "\\", "# ", "[a](b 'c", "[a](<(", "[x](a(b)(c)(d)(e", "[x](" + strings.Repeat("(a)", 40),
	}, pieces...))
}

// FuzzDiff: of each hunk the lines are those of the text, once and in order.
func FuzzDiff(f *testing.F) {
	fuzz(f, "diff", []string{
		"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ func\n a\n-b\n+c\n+d\n\\ No newline at end of file\n",
		"diff --git \"a/\\303\\244\" \"b/\\303\\244\\n\"\nrename from \"\\303\\244\"\nrename to b\n", "diff --git a/x b/x\ndeleted file mode 100644\n", "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
		"diff --git a/ b/x b/ b/x\n", "@@ -1 +1 @@\n", "diff --git a/x b/x\n@@ -99999999999999999999,1 +1,99999999999999999999 @@\n-a\n+b\n", "diff --git a/x b/x\n@@ -1," + strings.Repeat("9", 400) + " +1 @@\n", "diff --git \"", "+++ \"\\", "diff --git a/\" b/\"", "diff --git a/a b/a b/a b/", "diff --git \"a/\" \"b/",
	})
}

// TestDiffOfGit: what git says of changes, read and applied to what was there, gives what is
// there now.
func TestDiffOfGit(t *testing.T) {
	if lookPath("git") == "" {
		t.Skip("there is no git")
	}
	call := inBrowser(t)
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	names := []string{"plain", "with space", "tab\tin it", "ümlaut", "\"quoted\"", "b/a b", "line\nbreak", "+++ x", " a b b"}
	was, is := map[string]string{}, map[string]string{}
	write := func(all map[string]string) {
		t.Helper()
		for name, text := range all {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, name := range names {
		was[name] = strings.Repeat("same\n", 20) + "-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n\\ No newline at end of file\nlast"
		is[name] = "\\\n" + strings.Repeat("same\n", 20) + "++ a\n\r\n@@ -1 +1 @@\n" + strings.Repeat("\n", i) + "diff --git a/y b/y\nlast\n"
	}
	const gone = "e b/e" // without a line: its name is said by the first line alone
	was[gone] = ""
	write(was)
	git("add", ".")
	git("commit", "-q", "-m", "a")
	write(is)
	if err := os.Remove(filepath.Join(dir, gone)); err != nil {
		t.Fatal(err)
	}
	var files []struct {
		Path  string
		Gone  bool
		Hunks []struct {
			Lines []struct {
				Kind, Text string
				Old, Now   int
			}
		}
	}
	if err := json.Unmarshal([]byte(call(t, "parse", git("diff"))), &files); err != nil {
		t.Fatal(err)
	}
	if len(files) != len(was) {
		t.Errorf("%d files changed, of %d", len(files), len(was))
	}
	for _, f := range files {
		if _, was := was[f.Path]; !was || f.Gone != (f.Path == gone) {
			t.Errorf("there is no file %q, or %t is wrong: it is gone", f.Path, f.Gone)
			continue
		}
		old := strings.Split(was[f.Path], "\n")
		var now []string
		at := 0
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Kind != "+" {
					now = append(now, old[at:l.Old-1]...)
					at = l.Old
					if old[l.Old-1] != l.Text {
						t.Errorf("%q: line %d was %q, it says %q", f.Path, l.Old, old[l.Old-1], l.Text)
					}
				}
				if l.Kind != "-" {
					now = append(now, l.Text)
					if len(now) != l.Now {
						t.Errorf("%q: line %d is called %d", f.Path, len(now), l.Now)
					}
				}
			}
		}
		now = append(now, old[at:]...)
		if got := strings.Join(now, "\n"); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(is[f.Path], "\n") {
			t.Errorf("%q is now %q, its diff gives %q", f.Path, is[f.Path], got)
		}
	}
}
