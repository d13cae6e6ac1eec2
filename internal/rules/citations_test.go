package rules

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/contributing/requirements.md's last column")

// prose is a passage of text in which something may be cited: a comment of a Go
// file, a comment of a testscript or a paragraph of a page.
type prose struct {
	file string // relative to the root, slash separated
	test string // the test or the testscript that it belongs to, or ""
	text string // on one line
}

// isTest says which functions are run by go test.
var isTest = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z_]`)

// citable are all sources, with those of the page's tool.
func citable(t *testing.T) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// proseOf gives all comments of Go files and testscripts.
func proseOf(t *testing.T) []prose {
	t.Helper()
	var all []prose
	for _, s := range citable(t) {
		file := s.dir + "/" + s.name
		tests := map[*ast.FuncDecl]string{}
		if s.test {
			for _, d := range s.file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && isTest.MatchString(fn.Name.Name) {
					tests[fn] = fn.Name.Name
				}
			}
		}
		within := func(p token.Pos) string {
			for fn, name := range tests {
				if p >= fn.Pos() && p <= fn.End() || fn.Doc != nil && p >= fn.Doc.Pos() && p <= fn.End() {
					return name
				}
			}
			return ""
		}
		for _, c := range s.file.Comments {
			all = append(all, prose{file, within(c.Pos()), oneLine(c.Text())})
		}
		for fn, name := range tests { // names of subtests
			ast.Inspect(fn, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && number.FindString(text) == text && text != "" {
						all = append(all, prose{file, name, text})
					}
				}
				return true
			})
		}
	}
	for _, file := range files(t, ".txtar") {
		text, _, _ := strings.Cut("\n"+readFile(t, file), "\n-- ")
		var comment []string
		for i, para := range strings.Split(text, "\n\n") {
			for line := range strings.Lines(para) {
				if rest, ok := strings.CutPrefix(line, "#"); ok || i == 0 && !strings.HasPrefix(line, "{") {
					comment = append(comment, rest)
				}
			}
		}
		name := strings.TrimSuffix(path.Base(file), ".txtar")
		all = append(all, prose{file, path.Base(path.Dir(file)) + "/" + name, oneLine(strings.Join(comment, " "))})
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files gives all whose names end so, relative to the root.
func files(t *testing.T, ext string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && p != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(p, ext) {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(p), "../../"))
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("files *%s: %d found, %v", ext, len(all), err)
	}
	return all
}

var (
	number  = regexp.MustCompile(`\b([GRTPU])([1-9]\d{0,2})\b(?:–[GRTPU]?([1-9]\d{0,2})\b)?`)
	row     = regexp.MustCompile(`(?m)^([GRTPU]\d+)\|(.*)\|(.*)$`)
	section = regexp.MustCompile(`§(\d+)`)
)

// numbersIn gives the requirements that a text cites, ranges in full.
func numbersIn(text string) []string {
	var all []string
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] != "" {
			last, _ = strconv.Atoi(m[3])
		}
		for n := first; n <= last; n++ {
			all = append(all, m[1]+strconv.Itoa(n))
		}
	}
	return all
}

// TestCitedRequirements: every number that code and pages cite is a row of
// docs/contributing/requirements.md, whose last column names the tests that cite it.
func TestCitedRequirements(t *testing.T) {
	page := readFile(t, "docs/contributing/requirements.md")
	known := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		if known[m[1]] {
			t.Errorf("docs/contributing/requirements.md has %s twice", m[1])
		}
		known[m[1]] = true
	}
	shown, cites := map[string][]string{}, map[string]int{}
	for _, p := range proseOf(t) {
		if strings.HasPrefix(p.file, "emulator/") {
			continue // its "G0" and the like are character sets
		}
		for _, n := range numbersIn(p.text) {
			if !known[n] {
				t.Errorf("%s cites %s, which docs/contributing/requirements.md does not have: %.90q", p.file, n, p.text)
			}
			if p.test != "" && !slices.Contains(shown[n], p.test) {
				shown[n] = append(shown[n], p.test)
				cites[p.test]++
			}
		}
	}
	for _, file := range files(t, ".md") {
		for _, n := range numbersIn(readFile(t, file)) {
			if strings.HasPrefix(file, "docs/") && !known[n] {
				t.Errorf("%s cites %s, which docs/contributing/requirements.md does not have", file, n)
			}
		}
	}
	want := row.ReplaceAllStringFunc(page, func(line string) string {
		m := row.FindStringSubmatch(line)
		tests := shown[m[1]]
		// Two are enough to find the way: those that cite least besides.
		slices.SortFunc(tests, func(a, b string) int { return cmp.Or(cites[a]-cites[b], strings.Compare(a, b)) })
		tests = tests[:min(2, len(tests))]
		switch {
		case strings.Contains(m[2], "(not built:"):
			return fmt.Sprintf("%s|%s|", m[1], m[2])
		case len(tests) > 0:
			return fmt.Sprintf("%s|%s|`%s`", m[1], m[2], strings.Join(tests, "` `"))
		}
		return fmt.Sprintf("%s|%s|not shown by a test", m[1], m[2])
	})
	if want == page {
		return
	}
	if !*update {
		t.Fatal("docs/contributing/requirements.md names other tests than those that cite the numbers; run: go test ./internal/rules -run Cited -update")
	}
	if err := os.WriteFile("../../docs/contributing/requirements.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

var (
	pageName = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	// cited is a page with one of its headings, as in "docs/protocol.md, Limits".
	cited = regexp.MustCompile(`docs/([\w/]+)\.md, ([A-Z][\w ,:*'-]*)`)
	// specification is a page of AHP's.
	specification = regexp.MustCompile(`\bAHP, ([A-Z][\w ]*)`)
	link          = regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]+))?\)`)
	// codeFile is a file of code as comments name it: one beside theirs, or from the root.
	codeFile = regexp.MustCompile(`[\w/-]*\w\.go\b`)
	// codePath is a file or a directory of code.
	codePath = regexp.MustCompile(`(?m)(?:^|[^\w/])((?:cmd|emulator|host|internal|ui)/[a-z][\w/]*(?:\.(?:go|txtar))?)\b`)
	// elsewhere are ways of citing what is not in the repository.
	elsewhere = regexp.MustCompile(`\b(issue \d+|[Rr]ulings? \d+|checklist \d+|design rules? \d+)\b`)
)

// specificationPages are those of AHP's documentation that are cited.
var specificationPages = []string{"Actions", "Authentication", "Chat Channel", "Error Codes", "Lifecycle", "Root Channel", "Session Channel", "Subscriptions", "Terminal Channel", "Transport", "Versioning"}

// TestCitedPages: what code and pages cite of other pages is there.
func TestCitedPages(t *testing.T) {
	pages, code := files(t, ".md"), files(t, ".go")
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(§\d+) \| `).FindAllStringSubmatch(readFile(t, "docs/contributing/decisions.md"), -1) {
		if sections[m[1]] {
			t.Errorf("docs/contributing/decisions.md has %s twice", m[1])
		}
		sections[m[1]] = true
	}
	headings := map[string][]string{}
	for _, file := range pages {
		for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(readFile(t, file), -1) {
			headings[file] = append(headings[file], strings.ReplaceAll(m[1], `\`, ""))
		}
	}
	tests := map[string]bool{}
	for _, s := range citable(t) {
		for _, d := range s.file.Decls {
			if fn, is := d.(*ast.FuncDecl); is && s.test && isTest.MatchString(fn.Name.Name) {
				tests[fn.Name.Name] = true
			}
		}
	}
	check := func(file, text string) {
		if m := elsewhere.FindString(text); m != "" {
			t.Errorf("%s cites %q, which is not in the repository: say what it says", file, m)
		}
		for _, m := range cited.FindAllStringSubmatch(text, -1) {
			there := headings["docs/"+m[1]+".md"]
			if !slices.ContainsFunc(there, func(h string) bool { return strings.HasPrefix(m[2], h) }) {
				t.Errorf("%s cites %q; the sections of that page are %q", file, m[0], there)
			}
		}
		for _, m := range specification.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(specificationPages, func(h string) bool { return strings.HasPrefix(m[1], h) }) {
				t.Errorf("%s cites %q, which is none of the specification's pages %q", file, m[0], specificationPages)
			}
		}
		if strings.Contains(text, "decisions.md") {
			for _, m := range section.FindAllString(text, -1) {
				if !sections[m] {
					t.Errorf("%s cites %s, which docs/contributing/decisions.md does not have", file, m)
				}
			}
		}
	}
	for _, p := range proseOf(t) {
		check(p.file, p.text)
		if strings.Contains(p.text, "§") && !strings.Contains(p.text, "decisions.md") && !strings.HasPrefix(p.file, "emulator/") {
			t.Errorf("%s cites a section, but not of what: %.90q", p.file, p.text)
		}
		for _, name := range pageName.FindAllString(p.text, -1) {
			if !slices.Contains(pages, name) && !slices.Contains(pages, "docs/"+name) {
				t.Errorf("%s names %s, which is neither in the root nor in docs/", p.file, name)
			}
		}
		for _, name := range codeFile.FindAllString(p.text, -1) {
			if !slices.Contains(code, name) && !slices.Contains(code, path.Dir(p.file)+"/"+name) {
				t.Errorf("%s names %s, which is neither beside it nor a path from the root", p.file, name)
			}
		}
	}
	for _, file := range pages {
		text := readFile(t, file)
		check(file, text)
		for _, name := range regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)").FindAllStringSubmatch(text, -1) {
			if !tests[name[1]] && strings.HasPrefix(file, "docs/") {
				t.Errorf("%s names %s, which is no test", file, name[1])
			}
		}
		for _, m := range codePath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat("../../" + m[1]); err != nil && file != "CHANGELOG.md" {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := path.Join(path.Dir(file), m[1])
			if m[1] == "" {
				target = file
			}
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat("../../" + target); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			} else if m[2] != "" && !slices.ContainsFunc(headings[target], func(h string) bool { return anchor(h) == m[2] }) {
				t.Errorf("%s links to %s#%s; the sections there are %q", file, m[1], m[2], headings[target])
			}
		}
	}
}

// TestChangelog: a release has each kind of change once, in the order of Keep a Changelog.
func TestChangelog(t *testing.T) {
	order := []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
	releases := strings.Split(readFile(t, "CHANGELOG.md"), "\n## ")
	if len(releases) < 2 {
		t.Fatal("CHANGELOG.md has no release")
	}
	for _, release := range releases[1:] {
		last := -1
		for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(release, -1) {
			at := slices.Index(order, m[1])
			if at <= last {
				t.Errorf("%.20q: %q stands twice, is out of order or is none of %q", release, m[1], order)
			}
			last = at
		}
	}
}

// anchor is a heading's name in an address, as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}
