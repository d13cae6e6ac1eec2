package native

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
)

// xtermPolicy are screens of xterm that we do not want.
var xtermPolicy = map[string]string{
	"t0032-VPB":          "VPB (ECMA-48), which xterm doesn't have",
	"t0033-VPB_scroll":   "the same",
	"t0055-EL":           "EL spares a last column that waits to wrap, as in tmux, Alacritty and xterm.js",
	"t0060-DECSC":        "an old xterm: today's restores the wait to wrap",
	"t0061-CSI_s":        "an old xterm: today's restores the wait to wrap",
	"t0084-CBT":          "CBT leaves the wait to wrap behind in xterm",
	"t0103-reverse_wrap": "an old xterm: since patch 383 only wrapped lines are gone back over",
}

// The screens of xterm that xterm.js keeps as fixtures, read from the directory
// that TANDEMUX_XTERM_REF names (test/fixtures/escape_sequence_files there).
func TestXtermReference(t *testing.T) {
	dir := os.Getenv("TANDEMUX_XTERM_REF")
	if dir == "" {
		t.Skip("TANDEMUX_XTERM_REF is not set: no reference screens to compare with")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.in"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no screens in %s: %v", dir, err)
	}
	passed := 0
	for _, file := range names {
		name := strings.TrimSuffix(filepath.Base(file), ".in")
		t.Run(name, func(t *testing.T) {
			input, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(strings.TrimSuffix(file, ".in") + ".text")
			if err != nil {
				t.Fatal(err)
			}
			e := newEngine(emulator.Options{Cols: 80, Rows: 25})
			e.Write([]byte(strings.ReplaceAll(string(input), "\n", "\r\n")))
			want := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
			for i, l := range want {
				want[i] = strings.TrimRight(l, " ")
			}
			got := strings.TrimRight(emulator.ScreenText(e), "\n")
			d := emutest.Diff(got, strings.TrimRight(strings.Join(want, "\n"), "\n"))
			if d == "" {
				passed++
				return
			}
			if why, ok := xtermPolicy[name]; ok {
				t.Skipf("policy: %s", why)
			}
			t.Errorf("%q:\n%s", input, d)
		})
	}
	t.Logf("%d of %d screens the same", passed, len(names))
}
