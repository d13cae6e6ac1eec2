package registry

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/task/store"
)

func tryDefinition(t *testing.T, w *fixture) {
	text := `name = "reviewer"
description = "Reviews what changed"
command = ["sh", "-c", "exit"]
args = ["--acp"]
env = ["ANTHROPIC_API_KEY"]
confirm = "reads"
ignore = ["node_modules", "*.log"]

[variables]
MODEL = "large"

[sandbox]
network = "none"
memory = "2G"
processes = 200
folders = [".gemini", ".config/opencode"]

[hooks]
on_create = ["sh", "-c", "exit"]
timeout = "90s"

[deployment.production]
sticky = true
[deployment.preview]
sticky = false
`
	d := must(ParseDefinition([]byte(text)))(t)
	if mem := must(d.Sandbox.MemoryBytes())(t); mem != 2<<30 {
		t.Errorf("memory is %d", mem)
	}
	if limit := must(d.Hooks.Time())(t); limit != 90*time.Second {
		t.Errorf("the hooks' time is %v", limit)
	}
	v := w.deploy(d, "").Version
	back := must(DecodeDefinition(v.Definition))(t)
	a, _, _ := d.Encode("")
	b, _, _ := back.Encode("")
	if !bytes.Equal(a, b) {
		t.Errorf("%s\nbecomes\n%s", a, b)
	}
	for name, c := range map[string]struct{ text, words string }{
		"no name":          {`command = ["x"]`, "needs a name"},
		"bad name":         {`name = "Name"` + "\n" + `command = ["x"]`, "lowercase"},
		"nothing to run":   {`name = "x"`, "neither a command"},
		"two to run":       {"name = 'x'\ncommand = ['x']\nhooks.on_event = ['y']", "one of them"},
		"unknown key":      {"name = 'x'\n\ncomand = ['x']", "line 3: \"comand\" means nothing"},
		"no TOML":          {"name = ", "line 1"},
		"wrong type":       {"name = 'x'\ncommand = 3", "line 2"},
		"environment":      {"name = 'x'\ncommand = ['x']\ndeployment.staging.sticky = true", "production and preview"},
		"memory":           {"name = 'x'\ncommand = ['x']\nsandbox.memory = 'lots'", "512M"},
		"memory, overflow": {"name = 'x'\ncommand = ['x']\nsandbox.memory = '99999999999G'", "512M"},
		"network":          {"name = 'x'\ncommand = ['x']\nsandbox.network = 'some'", "shared or none"},
		"folder":           {"name = 'x'\ncommand = ['x']\nsandbox.folders = ['../x']", "below the home"},
		"folder, absolute": {"name = 'x'\ncommand = ['x']\nsandbox.folders = ['/etc']", "below the home"},
		"hook's time":      {"name = 'x'\ncommand = ['x']\nhooks.timeout = '-1s'", "90s"},
		"variable":         {"name = 'x'\ncommand = ['x']\nenv = ['A B']", "no name of a variable"},
		"ours":             {"name = 'x'\ncommand = ['x']\nvariables.TANDEMUX_SOCKET = 'x'", "set by tandemux"},
		"confirm":          {"name = 'x'\ncommand = ['x']\nconfirm = 'yes'", "ask, reads or all"},
		"empty word":       {"name = 'x'\ncommand = ['']", "empty word"},
		"args alone":       {"name = 'x'\nargs = ['x']\nhooks.on_event = ['y']", "args need a command"},
		"long":             {"name = 'x'\ncommand = ['x']\ndescription = '" + strings.Repeat("x", 3000) + "'", "3000 bytes"},
	} {
		_, err := ParseDefinition([]byte(c.text))
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		refused(t, err, 422, c.words)
	}
	refused(t, func() error { _, err := ParseDefinition(make([]byte, store.MaxSource+1)); return err }(), 413)
}

func FuzzParseDefinition(f *testing.F) {
	f.Add("name = \"a\"\ncommand = [\"x\"]\n[sandbox]\nmemory = \"2G\"\n[hooks]\ntimeout = \"1s\"\n")
	f.Add("name = 'a'\nhooks.on_event = ['./x']\n[variables]\nA = 'b'\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDefinition([]byte(text))
		if err != nil {
			if len(err.Error()) > 6000 {
				t.Fatalf("%d bytes of error", len(err.Error()))
			}
			return
		}
		raw, hash, err := d.Encode("")
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeDefinition(raw)
		if err != nil {
			t.Fatal(err)
		}
		if again, other, _ := back.Encode(""); !bytes.Equal(again, raw) || other != hash || back.Check() != nil {
			t.Fatalf("%s becomes %s, %v", raw, again, back.Check())
		}
	})
}

func TestBadArchives(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "outside")
	good := file(DefinitionFile, "name = \"a\"\ncommand = [\"sh\"]\n")
	for name, c := range map[string]struct {
		entries []tar.Header
		words   string
	}{
		"climbs":            {[]tar.Header{good, file("../outside", "x")}, "not clean"},
		"climbs within":     {[]tar.Header{good, file("a/../../outside", "x")}, "not clean"},
		"absolute":          {[]tar.Header{good, file(outside, "x")}, "absolute"},
		"link out":          {[]tar.Header{good, link("l", "../outside")}, "links out"},
		"absolute link":     {[]tar.Header{good, link("l", "/etc")}, "links out"},
		"through a link":    {[]tar.Header{good, link("d", "."), file("d/../x", "x"), file("d/d2/x", "y"), link("e", "d/d2"), file("e", "z")}, "not clean"},
		"below a link":      {[]tar.Header{good, link("d", "."), file("d/x", "y")}, "no directory"},
		"device":            {[]tar.Header{good, {Typeflag: tar.TypeChar, Name: "dev"}}, "device"},
		"hard link":         {[]tar.Header{good, {Typeflag: tar.TypeLink, Name: "h", Linkname: "/etc/passwd"}}, "leads out"},
		"fifo":              {[]tar.Header{good, {Typeflag: tar.TypeFifo, Name: "f"}}, "FIFO"},
		"below a file":      {[]tar.Header{good, file("x", "1"), file("x/y", "2")}, "which is no directory"},
		"no definition":     {[]tar.Header{file("x", "1")}, "no tandemux-agent.toml"},
		"bad definition":    {[]tar.Header{file(DefinitionFile, "name = 3")}, "line 1"},
		"definition a link": {[]tar.Header{file("real", "name = \"a\"\ncommand = [\"sh\"]\n"), {Typeflag: tar.TypeDir, Name: DefinitionFile + "/"}}, "regular file"},
	} {
		_, err := w.Deploy(ctx, operator, Deploy{Files: archive(t, c.entries...)})
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		if !strings.Contains(err.Error(), c.words) || !errors.Is(err, store.Invalid) {
			t.Errorf("%s: %v; want %q", name, err, c.words)
		}
	}
	if _, err := w.Deploy(ctx, operator, Deploy{Files: strings.NewReader(strings.Repeat("no archive ", 1000))}); !errors.Is(err, store.Invalid) {
		t.Errorf("no archive: %v", err)
	}
	var many []tar.Header
	for i := range MaxCodeFiles + 1 {
		many = append(many, file("f"+strings.Repeat("x", i%7)+"/"+string(rune('a'+i%26))+time.Duration(i).String(), ""))
	}
	if _, err := w.Deploy(ctx, operator, Deploy{Files: archive(t, many...)}); !errors.Is(err, store.TooLarge) {
		t.Errorf("many files: %v", err)
	}
	var bomb bytes.Buffer
	tw := tar.NewWriter(&bomb)
	if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "big", Size: MaxCodeBytes + 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Deploy(ctx, operator, Deploy{Files: &bomb}); !errors.Is(err, store.TooLarge) {
		t.Errorf("a big file: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(w.dir, "versions")); err != nil || len(left) != 0 {
		t.Errorf("files of deploys that were refused are left: %v, %v", left, err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a file was written outside")
	}
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		DefinitionFile: "name = \"packed\"\ncommand = [\"./bin/run\"]\nignore = [\"*.log\", \"tmp\"]\n", "bin/run": "#!/bin/sh\n", "notes.log": "x", "tmp/big": "x",
		".git/config": "secret", ".env": "KEY=secret", "sub/.env.production": "KEY=secret", "sub/.git-like": "kept", "deep/er/x.log": "x",
	})
	if err := os.Chmod(filepath.Join(dir, "bin/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("bin/run", filepath.Join(dir, "start")); err != nil {
		t.Fatal(err)
	}
	pack := func() *bytes.Buffer {
		t.Helper()
		var b bytes.Buffer
		if err := Pack(ctx, &b, dir, []string{"*.log", "tmp"}); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	w := newWorld(t)
	got := must(w.Deploy(ctx, operator, Deploy{Files: pack()}))(t)
	if got.Version.Status != store.Ready {
		t.Fatal(got.Version.Reason)
	}
	code := w.CodeDir(got.Version.Code)
	for name, there := range map[string]bool{"bin/run": true, "start": true, "sub/.git-like": true, "notes.log": false, "tmp": false, ".git": false, ".env": false, "sub/.env.production": false, "deep/er/x.log": false} {
		if _, err := os.Lstat(filepath.Join(code, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Stat(filepath.Join(code, "bin/run")); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the program has mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(code, DefinitionFile)); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("the definition has mode %v, %v", info.Mode(), err)
	}
	// The times of files are of no account, their contents are.
	if err := os.Chtimes(filepath.Join(dir, "bin/run"), time.Now(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if same := must(w.Deploy(ctx, operator, Deploy{Files: pack(), Unchanged: true}))(t); !same.Unchanged {
		t.Error("touching a file made a version")
	}
	write(t, dir, map[string]string{"sub/.git-like": "changed"})
	if other := must(w.Deploy(ctx, operator, Deploy{Files: pack(), Unchanged: true}))(t); other.Unchanged || other.Version.Code == got.Version.Code {
		t.Error("a changed file made no version")
	}
	if err := os.RemoveAll(code); err != nil {
		t.Fatal(err)
	}
	_, err := w.Launch(ctx, got.Version.ID)
	refused(t, err, 422, "are gone", "deploy it again")
}
