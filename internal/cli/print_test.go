package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"tandemux/internal/plaintext"
	"tandemux/internal/pty"
)

// TestClean: what does something to a terminal is taken out, however the text is cut.
func TestClean(t *testing.T) {
	const in, want = "a\x1b]0;t\x07\tbé\u009b6n\u202e界\u2028\n\U0001f600\u061c\x7f.", "a]0;t\tbé6n界\n\U0001f600."
	for n := 1; n <= len(in); n++ {
		var out strings.Builder
		w := &clean{to: &out}
		for at := 0; at < len(in); at += n {
			if wrote, err := w.Write([]byte(in[at:min(at+n, len(in))])); err != nil || wrote != min(n, len(in)-at) {
				t.Fatalf("wrote %d, %v", wrote, err)
			}
		}
		if out.String() != want {
			t.Fatalf("in pieces of %d: %q", n, out.String())
		}
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if out := escaped(text); strings.ContainsFunc(string(out), plaintext.Hidden) || json.Unmarshal(out, &back) != nil || back != in {
		t.Errorf("as JSON: %q", out)
	}
}

// TestCutTo: a field is cut to a terminal's columns, wide characters too, and keeps its end.
func TestCutTo(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "lo…er"},
		{"make test (2)", 9, "make… (2)"},
		{"", 2, ""},
		{"界界界", 6, "界界界"},
		{"界界界", 5, "界…界"},
		{"界界界界", 7, "界…界"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
	} {
		if got := cutTo(c.in, c.width); got != c.want {
			t.Errorf("%q in %d columns: %q", c.in, c.width, got)
		}
	}
}

// TestTable: on a terminal the longest columns are cut until a line fits, ids never;
// what would not fit for all that, and what goes elsewhere, stays whole.
func TestTable(t *testing.T) {
	rows := [][]any{
		{"h6yuhoxd23", "界界", "~", Whole("running"), Cut("sh -c 'make test; sleep 100' (running)"), "/usr/share/doc/of/tandemux"},
		{"5wnv2kpd", "", "sh", Whole("exited 1"), Cut(""), "~"},
	}
	row := func(r []any) []any { return r }
	print := func(cols int, rows [][]any) (lines []string) {
		t.Helper()
		master, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close() //nolint:errcheck // a test's
		if err := pty.Setsize(slave, &pty.Winsize{Rows: 24, Cols: uint16(cols)}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(Table(slave, "ID\tNAME\tTITLE\tSTATE\tCOMMAND\tDIRECTORY", rows, row), slave.Close()); err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(master); s.Scan(); {
			lines = append(lines, s.Text())
		}
		return lines
	}
	whole := []string{
		"ID          NAME  TITLE  STATE     COMMAND                                 DIRECTORY",
		"h6yuhoxd23  界界  ~      running   sh -c 'make test; sleep 100' (running)  /usr/share/doc/of/tandemux",
		"5wnv2kpd          sh     exited 1                                          ~",
	}
	for cols, want := range map[int][]string{
		200: whole, 20: whole,
		80: {
			"ID          NAME  TITLE  STATE     COMMAND                DIRECTORY",
			"h6yuhoxd23  界界  ~      running   sh -c 'mak… (running)  /usr/share/…f/tandemux",
			"5wnv2kpd          sh     exited 1                         ~",
		},
	} {
		if got := print(cols, rows); !slices.Equal(got, want) {
			t.Errorf("%d columns:\n%s\nwant\n%s", cols, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	var b strings.Builder
	if err := Table(&b, "ID\tNAME\tTITLE\tSTATE\tCOMMAND\tDIRECTORY", rows, row); err != nil || b.String() != strings.Join(whole, "\n")+"\n" {
		t.Errorf("in a pipe:\n%s (%v)", b.String(), err)
	}
}

// TestShort: what stood in several lines doesn't run together in one.
func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"import time\nold = 1": "import time old = 1", "a\tb\r\nc": "a b c", "x\x1b[31my": "x[31my",
	} {
		if got := Short(in); got != want {
			t.Errorf("Short(%q) = %q, want %q", in, got, want)
		}
	}
}
