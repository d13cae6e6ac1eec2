package desk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/internal/fileuri"
	"tandemux/ui/segments"
)

// TestScript: the first line of what a line for sh prints, in the pane's directory, or
// why there is none; nothing that it does takes longer or is more than is bounded.
func TestScript(t *testing.T) {
	d, dir := testDesk(t), t.TempDir()
	at := segments.Place{Layout: "work", Terminal: "terminal:/1", Dir: fileuri.Of(dir)}
	for _, c := range []struct{ line, want string }{
		{"echo $TANDEMUX_LAYOUT $TANDEMUX_PANE; pwd", "work terminal:/1"},
		{"pwd", dir},
		{"printf '\\n\\n one \\ntwo'", "one"},
		{"exit 1", "status-command: exit status 1"},
		{"echo up; exit 1", "up"},
		{"echo no such thing >&2; exit 3", "status-command: no such thing"},
		{"true", ""},
		{"yes", "y"}, // ends as it prints too much
		{"(sleep 60 & echo $! >child; echo up)", "up"}, // what it leaves keeps its output open
	} {
		if got := d.Script(context.Background(), c.line, at); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	if pid, err := os.ReadFile(filepath.Join(dir, "child")); err == nil {
		_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if got := d.Script(ctx, "sleep 10000 & sleep 10000", at); !strings.Contains(got, "stopped after") {
		t.Errorf("a line that does not end gives %q", got)
	}
	at.Dir = fileuri.Of(filepath.Join(dir, "gone"))
	if got := d.Script(context.Background(), "pwd", at); got != os.Getenv("HOME") {
		t.Errorf("where the directory is gone it runs in %q", got)
	}
}

// TestBranch: a real repository's branch, and whether tracked files were changed.
func TestBranch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	d, dir := testDesk(t), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		if got := d.Branch(context.Background(), fileuri.Of(dir)); got != want {
			t.Errorf("the branch is %q, want %q", got, want)
		}
	}
	check("")
	git("init", "-q", "-b", "trunk")
	check("trunk")
	write("a", "one")
	check("trunk") // a file that isn't tracked is no change
	git("add", "a")
	git("commit", "-q", "-m", "one")
	check("trunk")
	write("a", "two")
	check("trunk*")
	git("checkout", "-q", "--detach")
	if got := d.Branch(context.Background(), fileuri.Of(dir)); len(got) != 8 || got[7] != '*' {
		t.Errorf("without a branch it says %q", got)
	}
	if got := d.Branch(context.Background(), "file://elsewhere"+dir); got != "" {
		t.Errorf("another machine's directory has the branch %q", got)
	}
}

func TestBattery(t *testing.T) {
	none := t.TempDir()
	if got := batteryIn(none); got != "" {
		t.Errorf("without a battery: %q", got)
	}
	if got := batteryIn(filepath.Join(none, "missing")); got != "" {
		t.Errorf("without the directory: %q", got)
	}
	supply := func(dir, name string, files map[string]string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for f, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name, f), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	one := t.TempDir()
	supply(one, "AC", map[string]string{"type": "Mains", "online": "1"})
	supply(one, "BAT0", map[string]string{"type": "Battery", "capacity": "83", "status": "Charging", "present": "1"})
	supply(one, "hidpp_battery_0", map[string]string{"type": "Battery", "scope": "Device", "capacity": "5", "status": "Discharging"})
	if got := batteryIn(one); got != "battery 83%+" {
		t.Errorf("one: %q", got)
	}
	two := t.TempDir()
	supply(two, "BAT0", map[string]string{"type": "Battery", "capacity": "100", "energy_now": "20", "energy_full": "20", "status": "Unknown"})
	supply(two, "BAT1", map[string]string{"type": "Battery", "capacity": "10", "energy_now": "8", "energy_full": "80", "status": "Discharging"})
	if got := batteryIn(two); got != "battery 28%" {
		t.Errorf("two of different sizes: %q", got)
	}
	for out, want := range map[string]string{
		"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4653155)\t83%; discharging; 4:07 remaining present: true\n": "battery 83%",
		"Now drawing from 'AC Power'\n -InternalBattery-0 (id=4653155)\t9%; charging; 1:02 remaining present: true\n":          "battery 9%+",
		"Now drawing from 'AC Power'\n": "",
	} {
		if got := pmset(out); got != want {
			t.Errorf("pmset: %q, want %q", got, want)
		}
	}
}

func FuzzBranchOf(f *testing.F) {
	f.Add("# branch.oid 47b81092d7c1f0a2b3c4d5e6f708192a3b4c5d6e\n# branch.head (detached)\n1 .M N... a\n")
	f.Add("# branch.oid (initial)\n# branch.head trunk\n")
	f.Fuzz(func(t *testing.T, status string) {
		if got := branchOf(status); strings.Contains(got, "\n") {
			t.Errorf("%q gives %q", status, got)
		}
		pmset(status)
	})
}
