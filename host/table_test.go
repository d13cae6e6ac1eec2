package host_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
)

// The values of the second column of the table in docs/protocol.md, Served and not.
const (
	isServed  = "served"
	isTaken   = "taken"
	isSent    = "sent"
	isRead    = "read"
	isRefused = "refused"
	isUnknown = "unknown"
)

// written is the table of docs/protocol.md, Served and not: by kind, name to how it is
// served.
func written(t *testing.T) map[string]map[string]string {
	section := sectionOf(t, "Served and not")
	all := map[string]map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, " | ")
		if len(cells) < 3 || cells[0] == "kind" {
			continue
		}
		if all[cells[0]] == nil {
			all[cells[0]] = map[string]string{}
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			if all[cells[0]][m[1]] != "" {
				t.Errorf("docs/protocol.md has %q twice", m[1])
			}
			all[cells[0]][m[1]] = cells[1]
		}
	}
	return all
}

// sectionOf is a section of docs/protocol.md.
func sectionOf(t *testing.T, heading string) string {
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, end := strings.Cut(section, "\n## ")
	if !ok || !end {
		t.Fatalf("docs/protocol.md has no section %s", heading)
	}
	return section
}

// TestExtensionsAreWritten: docs/protocol.md has what tandemux adds to AHP.
func TestExtensionsAreWritten(t *testing.T) {
	added := regexp.MustCompile(`x-tandemux(?:/\w+|-\w+:/)`)
	find := func(text string) []string {
		all := added.FindAllString(text, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	page := sectionOf(t, "Extensions") + sectionOf(t, "Departures from the text")
	if has, want := find(page), find(source(t, "../ahp")); !slices.Equal(has, want) {
		t.Errorf("docs/protocol.md has the extensions %q; those of ahp are %q", has, want)
	}
}

// source is the text of this program's packages without their tests.
func source(t *testing.T, dirs ...string) string {
	var text strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			text.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// TestAllOfAHP: the table of docs/protocol.md that says what is served of AHP is that
// of the code.
func TestAllOfAHP(t *testing.T) {
	t.Parallel()
	doc := written(t)
	w := start(t)
	methods, notifications, actions := host.Tables(w.host)
	foreign := func(name string) bool { return !strings.HasPrefix(name, "x-") }
	made := source(t, ".")

	a := w.connect("a")
	a.initialize()
	for name, how := range doc["channel"] {
		err := a.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: strings.Replace(name, "ID", "1", 1)}, nil)
		if how == isUnknown && ahp.CodeOf(err) != ahp.CodeNotFound {
			t.Errorf("the channel %s, which is unknown, answers %v", name, err)
		}
	}

	got := map[string]string{}
	for m := range maps.Keys(methods) {
		got[m] = isServed
	}
	for m := range maps.Keys(notifications) {
		got[m] = isServed
	}
	compare(t, "command", doc["command"], got, func(name, how string) string {
		if got[name] != "" && how == isRefused { // What a refusal is, tests of each say.
			return isRefused
		}
		return got[name]
	}, foreign)

	got = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(?:Note|Method)\w+ += "([\w/]+)"`).FindAllStringSubmatch(source(t, "../ahp"), -1) {
		got[m[1]] = isSent
	}
	for name := range doc["command"] {
		delete(got, name)
	}
	compare(t, "notification", doc["notification"], got, func(name, _ string) string { return got[name] }, foreign)

	got = map[string]string{}
	for _, name := range ahp.ActionTypes() {
		typ := reflect.TypeOf(ahp.EmptyAction(name))
		row, taken := actions[name]
		_, client := ahp.ClientDispatchable(name)
		used := regexp.MustCompile(regexp.QuoteMeta(typ.String()) + `\{`).MatchString(made)
		switch {
		case taken && !client:
			t.Errorf("%s has a row, but no client may dispatch it", name)
		case client && !taken:
			t.Errorf("%s may be dispatched by clients, but has no row", name)
		case taken && row.Refusal != "":
			got[name] = isRefused
		case taken:
			got[name] = isTaken
		case used:
			got[name] = isSent
		default:
			got[name] = isRead
		}
	}
	compare(t, "action", doc["action"], got, func(name, _ string) string { return got[name] }, foreign)
}

// compare says where a table of the page and one of the code differ. is tells how the
// code has a name, "" for not at all.
func compare(t *testing.T, what string, doc, code map[string]string, is func(name, how string) string, ours func(string) bool) {
	t.Helper()
	if len(doc) == 0 {
		t.Errorf("docs/protocol.md has no table of %ss", what)
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		want := is(name, doc[name])
		if want == "" {
			want = isUnknown
		}
		if doc[name] != want {
			t.Errorf("docs/protocol.md, Served and not: the %s `%s` is %q there and %q here: edit its row", what, name, doc[name], want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(code)) {
		if doc[name] == "" && ours(name) {
			t.Errorf("docs/protocol.md, Served and not: the %s `%s` has no row", what, name)
		}
	}
}
