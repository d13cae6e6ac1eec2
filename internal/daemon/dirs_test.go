package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStateIsPrivate: what others may read of the state directory and the logs in it is
// closed to them, and a log that they may write, or a link, is refused.
func TestStateIsPrivate(t *testing.T) {
	d := Dirs{Runtime: filepath.Join(t.TempDir(), "run"), State: t.TempDir()}
	path := filepath.Join(d.State, "host.log")
	mode := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	open := func() error {
		_, end, err := d.OpenLog("host.log")
		if err == nil {
			end()
		}
		return err
	}
	mode(d.State, 0o755)
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	mode(path, 0o644)
	if err := open(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{d.State: 0o700, path: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	mode(path, 0o666)
	if err := open(); err == nil || !strings.Contains(err.Error(), "`chmod go-w "+path+"`") {
		t.Errorf("a log that others can write: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if err := open(); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link: %v", err)
	}
}
