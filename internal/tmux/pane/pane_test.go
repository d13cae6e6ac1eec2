package pane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNumber: a pane keeps its number whatever comes in its terminal's place.
func TestNumber(t *testing.T) {
	uri := "ahp-terminal:/abcdefgh"
	next := Next(uri)
	again := Next(next)
	if next != uri+"~1" || again != uri+"~2" {
		t.Errorf("%s, %s", next, again)
	}
	if a, b := Number("%", uri), Number("%", again); a != b || len(a) > 1+len("281474976710655") {
		t.Errorf("%s is %s by then", a, b)
	}
	if Number("%", uri) == Number("%", "ahp-terminal:/abcdefgi") {
		t.Error("two terminals have one number")
	}
}

func TestEnviron(t *testing.T) {
	env := Environ("/run/t", "/run/t/host.sock", "ahp-terminal:/x", "/usr/bin:/bin")
	if !strings.HasPrefix(env["TMUX"], "/run/t/host.sock,") || env["PATH"] != "/run/t/tmux:/usr/bin:/bin" || env["TMUX_PANE"] != Number("%", "ahp-terminal:/x") {
		t.Error(env)
	}
	if env := Environ("/run/t", "s", "u", ""); env["PATH"] != "/run/t/tmux" {
		t.Error(env)
	}
}

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	for _, program := range []string{"/bin/one", "/bin/two"} {
		if err := Install(dir, program); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(filepath.Join(dir, Dir, "tmux")); err != nil || to != program {
			t.Errorf("%s, %v; want %s", to, err, program)
		}
	}
}
