package resurrect

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
)

// following is a keeper that has heard of a layout with two terminals, and of one
// terminal more.
func following(t *testing.T, dir string) (*Saver, map[ahp.URI]bool) {
	t.Helper()
	k := New(dir, nil)
	const uri = "x-tandemux-layout:/main"
	tell := func(resource ahp.URI, state any) {
		raw, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		k.Snapshot(ahp.Snapshot{Resource: resource, State: raw})
	}
	info := func(name string, meta ahp.TerminalMeta) ahp.TerminalInfo {
		meta.Cwd = "file:///srv/" + name
		return ahp.TerminalInfo{Resource: "ahp-terminal:/" + name, Title: name, Meta: &meta, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "c"}, Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning}}
	}
	tell(ahp.RootURI, ahp.RootState{Agents: []ahp.AgentInfo{}, Terminals: []ahp.TerminalInfo{
		info("a", ahp.TerminalMeta{LastCommand: &ahp.CommandInfo{CommandLine: "vim x", Running: true}}),
		info("b", ahp.TerminalMeta{Command: []string{"/usr/bin/htop"}, LastCommand: &ahp.CommandInfo{CommandLine: "htop", Running: true}}),
		info("hidden", ahp.TerminalMeta{}),
	}})
	tell(uri, ahp.LayoutState{Rev: 3, Doc: json.RawMessage(`{"tabs":[1]}`), Terminals: []ahp.URI{"ahp-terminal:/a", "ahp-terminal:/b"}})
	return k, map[ahp.URI]bool{uri: true}
}

// TestFile: what is kept is what layouts show, for this user's eyes only, and is
// read as it was written.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	k, follows := following(t, dir)
	var last []byte
	if err := k.save(follows, &last); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v, %v", info, err)
	}
	m, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Terminal{
		{URI: "ahp-terminal:/a", Title: "a", Cwd: "file:///srv/a", Line: "vim x"},
		{URI: "ahp-terminal:/b", Title: "b", Cwd: "file:///srv/b", Command: []string{"/usr/bin/htop"}},
	}
	if !reflect.DeepEqual(m.Terminals, want) || len(m.Layouts) != 1 || string(m.Layouts[0].Doc) != `{"tabs":[1]}` {
		t.Errorf("read %+v", m)
	}
	// What has not changed is not written again, and after Stop nothing is.
	os.Remove(filepath.Join(dir, FileName))
	if err := k.save(follows, &last); err != nil {
		t.Fatal(err)
	}
	k.Stop()
	last = nil
	if err := k.save(follows, &last); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was written", left)
	}
}

// TestFailures: a disk that takes nothing costs the file, not the one before it;
// what can't be read is named and costs nothing else.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	k, follows := following(t, filepath.Join(dir, "not there"))
	var last []byte
	if err := k.save(follows, &last); err == nil || last != nil {
		t.Errorf("save without a directory: %v", err)
	}
	if _, err := Read(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing kept: %v", err)
	}
	if err := (File{Layouts: []Layout{{Doc: json.RawMessage(`"` + strings.Repeat("x", maxFile) + `"`)}}}).write(dir); err == nil {
		t.Error("a file over the bound was written")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	for _, text := range []string{"", "{", `{"version":99}`, `{"version":1,"terminals":[` + strings.TrimSuffix(strings.Repeat("{},", maxTerminals+1), ",") + `]}`, strings.Repeat(" ", maxFile+1)} {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := Read(dir); err == nil || len(m.Terminals) > 0 {
			t.Errorf("%.20q was read as %+v", text, m)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, FileName+".123"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Forget(dir); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left after Forget", left)
	}
}

// TestListed: programs are run again by name or path.
func TestListed(t *testing.T) {
	for program, want := range map[string]bool{"vim": true, "/usr/bin/vim": true, "vimdiff": false, "": false, "/opt/top": true, "top": false} {
		if got := listed(program, []string{"vim", "/opt/top"}); got != want {
			t.Errorf("%q: %v", program, got)
		}
	}
	if (File{Saved: time.Unix(1, 0)}).compare() == nil {
		t.Error("nothing to compare")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"layouts":[{"uri":"x-tandemux-layout:/m","doc":{},"terminals":["a"]}],"terminals":[{"uri":"a"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Read(dir)
		if err == nil && (len(m.Layouts) > maxLayouts || len(m.Terminals) > maxTerminals) {
			t.Error("over the bounds")
		}
	})
}
