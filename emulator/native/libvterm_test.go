package native

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tandemux/emulator"
)

// libvtermInput are tests of what libvterm writes for keys, mouse and clipboard,
// which is not an engine's business here.
var libvtermInput = map[string]bool{
	"17state_mouse.test": true, "25state_input.test": true, "40state_selection.test": true, "92lp1640917.test": true,
}

// libvtermPolicy are checks of libvterm's in which we differ on purpose, as
// file:line.
var libvtermPolicy = map[string]string{
	"13state_edit.test:81":     "IL goes to the left margin, as in xterm",
	"13state_edit.test:269":    "DECSCA is reported as 0, as in xterm",
	"16state_resize.test:36":   "the line is broken anew",
	"26state_query.test:7":     "its DA1",
	"26state_query.test:12":    "its name",
	"26state_query.test:27":    "DECXCPR has a page, as in xterm",
	"26state_query.test:37":    "DECRQSS of SGR begins with a reset, as in xterm",
	"26state_query.test:42":    "the same",
	"26state_query.test:47":    "the same",
	"26state_query.test:52":    "the same",
	"26state_query.test:57":    "the same",
	"26state_query.test:62":    "no 8-bit controls",
	"28state_dbl_wh.test:27":   "no double-width lines",
	"63screen_resize.test:103": "its history is made up by the test",
	"63screen_resize.test:104": "the same",
	"63screen_resize.test:105": "the same",
	"63screen_resize.test:106": "the same",
	"69screen_reflow.test:74":  "lines that went into history come back",
	"69screen_reflow.test:75":  "the same",
	"69screen_reflow.test:76":  "the same",
	"69screen_reflow.test:78":  "the same",
	"69screen_reflow.test:79":  "the same",
}

// libvterm's tests, read from the directory that TANDEMUX_LIBVTERM_REF names (t
// there): cursors, rows and replies are compared; what they say of libvterm's
// callbacks is passed over. They include screens of vttest.
func TestLibvtermReference(t *testing.T) {
	dir := os.Getenv("TANDEMUX_LIBVTERM_REF")
	if dir == "" {
		t.Skip("TANDEMUX_LIBVTERM_REF is not set: no tests to compare with")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.test"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no tests in %s: %v", dir, err)
	}
	var checks, failed, other int
	for _, file := range names {
		if libvtermInput[filepath.Base(file)] {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v := &vterm{name: filepath.Base(file)}
		for i, line := range strings.Split(string(text), "\n") {
			v.step(i+1, strings.TrimSpace(line))
		}
		checks += v.checks
		for _, f := range v.failures {
			if why, ok := libvtermPolicy[f.at]; ok {
				t.Logf("%s: policy: %s", f.at, why)
				other++
				continue
			}
			failed++
			t.Errorf("%s: %s", f.at, f.text)
		}
	}
	t.Logf("%d of %d checks hold, %d by policy not", checks-failed-other, checks, other)
}

// vterm runs one test file.
type vterm struct {
	name, title string
	e           *Engine
	out         string
	checks      int
	failures    []struct{ at, text string }
}

func (v *vterm) check(line int, ok bool, format string, args ...any) {
	v.checks++
	if !ok {
		v.failures = append(v.failures, struct{ at, text string }{
			fmt.Sprintf("%s:%d", v.name, line), v.title + ": " + fmt.Sprintf(format, args...),
		})
	}
}

func (v *vterm) step(n int, line string) {
	if m := perlLoop.FindStringSubmatch(line); m != nil {
		from, to := 1, 0
		if fmt.Sscanf(m[2], "%d %d", &from, &to); m[1] == "REP" {
			from, to = 1, from
		}
		for i := from; i <= to; i++ {
			v.step(n, strings.ReplaceAll(m[3], `\#`, strconv.Itoa(i)))
		}
		return
	}
	word, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(line, "!") {
		v.title = line
		return
	}
	if word == "INIT" {
		v.e = newEngine(emulator.Options{Cols: 80, Rows: 25})
		v.out = ""
	}
	if v.e == nil {
		return
	}
	switch word {
	case "RESET":
		v.e.reset()
		v.out = ""
	case "RESIZE":
		var rows, cols int
		fmt.Sscanf(rest, "%d,%d", &rows, &cols)
		v.e.Resize(cols, rows)
	case "PUSH":
		v.e.Write([]byte(perl(rest)))
		v.out = ""
		for _, ev := range v.e.Events() {
			if ev.Kind == emulator.EventReply {
				v.out += ev.Text
			}
		}
	case "output":
		want := perl(rest)
		v.check(n, strings.HasPrefix(v.out, want), "replies %q, want %q", v.out, want)
		v.out = strings.TrimPrefix(v.out, want)
	case "?cursor":
		c := v.e.Cursor()
		got := fmt.Sprintf("= %d,%d", c.Y, c.X)
		v.check(n, got == rest, "cursor %s, want %s", got, rest)
	case "?screen_row":
		var y int
		fmt.Sscanf(rest, "%d", &y)
		_, want, _ := strings.Cut(rest, "= ")
		got := v.text(y, 0, v.e.cols)
		v.check(n, got == strings.TrimRight(perl(want), " "), "row %d is %q, want %s", y, got, want)
	case "?screen_chars":
		var y, x, y2, x2 int
		fmt.Sscanf(rest, "%d,%d,%d,%d", &y, &x, &y2, &x2)
		_, want, _ := strings.Cut(rest, "= ")
		var rows []string
		for ; y < y2; y++ {
			rows = append(rows, v.text(y, x, x2))
		}
		got := strings.TrimRight(strings.Join(rows, "\n"), "\n")
		v.check(n, got == strings.TrimRight(perl(want), "\n"), "chars are %q, want %s", got, want)
	}
}

func (v *vterm) text(y, from, to int) string {
	cells := v.e.Line(y, nil)
	return emulator.LineText(cells[min(from, len(cells)):min(to, len(cells))])
}

var perlLoop = regexp.MustCompile(`^\$(SEQ|REP) ([\d ]+):\s*(.*)$`)

var perlString = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"(?:\s*x\s*(\d+))?|0x([0-9a-f]+)`)

var perlEscape = regexp.MustCompile(`\\(x[0-9a-fA-F]{2}|.)`)

// perl evaluates strings and their repetitions, joined.
func perl(s string) string {
	var out strings.Builder
	for _, m := range perlString.FindAllStringSubmatch(s, -1) {
		if m[3] != "" {
			n, _ := strconv.ParseUint(m[3], 16, 32)
			out.WriteRune(rune(n))
			continue
		}
		text := perlEscape.ReplaceAllStringFunc(m[1], func(e string) string {
			switch e[1] {
			case 'e':
				return "\x1b"
			case 'r':
				return "\r"
			case 'n':
				return "\n"
			case 't':
				return "\t"
			case 'b':
				return "\b"
			case '0':
				return "\x00"
			case 'x':
				n, _ := strconv.ParseUint(e[2:], 16, 8)
				return string([]byte{byte(n)})
			}
			return e[1:]
		})
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		out.WriteString(strings.Repeat(text, n))
	}
	return out.String()
}
