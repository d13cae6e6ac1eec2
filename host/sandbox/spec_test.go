//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
)

// TestPaths: the two views of a path.
func TestPaths(t *testing.T) {
	b := within(t, func(b *box) {
		b.spec.Shares = []sandbox.Share{
			{Outside: b.mkdir("system/.claude"), Inside: "/root/.claude", Write: true},
			{Outside: b.mkdir("docs"), Inside: "/docs"},
		}
		b.spec.Code = []string{b.mkdir("code"), "/usr/bin/env"}
	})
	for _, c := range []struct {
		inside, outside string
		read, write     bool
	}{
		{"/workspace", "workspace", true, true},
		{"/workspace/a/b", "workspace/a/b", true, true},
		{"/workspace/../workspace/a", "workspace/a", true, true},
		{"/workspace/a/../../docs/x", "docs/x", true, false},
		{"/root/.claude/x", "system/.claude/x", true, true},
		{"/docs/x", "docs/x", true, false},
		{filepath.Join(b.dir, "code/x"), "code/x", true, false},
		{"/workspaces/a", "", false, false},
		{"/root/x", "", false, false},
		{"/etc/passwd", "", false, false},
		{"/workspace/../../etc/passwd", "", false, false},
		{"/", "", false, false},
		{"workspace/a", "", false, false},
		{"/workspace/\x00", "", false, false},
		{filepath.Join(b.dir, "workspace/x"), "", false, false},
	} {
		for write, may := range map[bool]bool{false: c.read, true: c.write} {
			got, err := b.Outside(c.inside, write)
			var refused *agent.Refusal
			if may && (err != nil || got != filepath.Join(b.dir, c.outside)) || !may && !errors.As(err, &refused) {
				t.Errorf("%q, write %v: %q, %v", c.inside, write, got, err)
			}
		}
	}
	for outside, want := range map[string]string{
		"workspace": "/workspace", "workspace/a": "/workspace/a", "system/.claude": "/root/.claude", "docs/x": "/docs/x", "workspaces": filepath.Join(b.dir, "workspaces"),
	} {
		if got := b.Inside(filepath.Join(b.dir, outside)); got != want {
			t.Errorf("%s is %s inside, want %s", outside, got, want)
		}
	}
	if got := b.Inside(b.spec.Program); got != "/run/tandemux/tandemux" {
		t.Errorf("the program is %s inside", got)
	}
}

// FuzzOutside: whatever the path, what it leads to lies in something shared.
func FuzzOutside(f *testing.F) {
	dir := f.TempDir()
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	b, err := sandbox.New(sandbox.Spec{Name: "fuzz", Workspace: dir, Write: true, Program: self, Bwrap: self})
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{"/workspace/a", "/workspace/../x", "//workspace//..//", "/workspace\x00", "", ".", "/workspace/./..", "/workspace-2"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got, err := b.Outside(path, true)
		if err == nil && got != dir && !strings.HasPrefix(got, dir+"/") {
			t.Errorf("%q leads to %q", path, got)
		}
		if err == nil && strings.Contains(got, "/../") {
			t.Errorf("%q climbs: %q", path, got)
		}
	})
}

// TestRefusals: what can't be made, or would open a way out.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"workspace/sub/deep", "state/tasks/t1/workspace", "state/tasks/t2", "docs"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "state"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(dir, p) }
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		says   string
	}{
		"no name":             {func(s *sandbox.Spec) { s.Name = "" }, "name"},
		"a name that climbs":  {func(s *sandbox.Spec) { s.Name = "../x" }, "name"},
		"relative":            {func(s *sandbox.Spec) { s.Workspace = "workspace" }, "not an absolute path"},
		"missing":             {func(s *sandbox.Spec) { s.Workspace = at("none") }, "no such file"},
		"the root":            {func(s *sandbox.Spec) { s.Workspace = "/" }, "can't be shared"},
		"the state":           {func(s *sandbox.Spec) { s.Workspace = at("state") }, "can't be shared"},
		"above the state":     {func(s *sandbox.Spec) { s.Workspace = dir }, "can't be shared"},
		"the state by a link": {func(s *sandbox.Spec) { s.Workspace = at("link") }, "can't be shared"},
		"in the state":        {func(s *sandbox.Spec) { s.Workspace = at("state/tasks") }, "the host's own"},
		"another task's":      {func(s *sandbox.Spec) { s.Workspace = at("state/tasks/t2") }, "the host's own"},
		"the state for code":  {func(s *sandbox.Spec) { s.Code = []string{dir} }, "can't be shared"},
		"over /usr":           {func(s *sandbox.Spec) { s.Shares = []sandbox.Share{{Outside: at("docs"), Inside: "/usr/local/x"}} }, "the sandbox's own"},
		"over everything":     {func(s *sandbox.Spec) { s.Shares = []sandbox.Share{{Outside: at("docs"), Inside: "/"}} }, "the sandbox's own"},
		"over home":           {func(s *sandbox.Spec) { s.Shares = []sandbox.Share{{Outside: at("docs"), Inside: "/root"}} }, "the sandbox's own"},
		"over the socket": {func(s *sandbox.Spec) {
			s.Shares = []sandbox.Share{{Outside: at("docs"), Inside: "/run/tandemux/socket/x"}}
		}, "the sandbox's own"},
		"unclean":            {func(s *sandbox.Spec) { s.Shares = []sandbox.Share{{Outside: at("docs"), Inside: "/docs/../usr"}} }, "or has . or .. in it"},
		"what is written to": {func(s *sandbox.Spec) { s.Shares = []sandbox.Share{{Outside: at("workspace/sub"), Inside: "/docs"}} }, "written to inside"},
		"deep in the writable": {func(s *sandbox.Spec) {
			s.Shares = []sandbox.Share{{Outside: at("docs"), Inside: "/workspace/sub/deep"}}
		}, "deeper than one level"},
		"a negative limit":   {func(s *sandbox.Spec) { s.Limits.Memory = -1 }, "limit"},
		"no bubblewrap":      {func(s *sandbox.Spec) { s.Bwrap = at("none") }, "--no-sandbox"},
		"a relative program": {func(s *sandbox.Spec) { s.Program = "tandemux" }, "not absolute"},
	} {
		spec := sandbox.Spec{Name: "x", Workspace: at("workspace"), Write: true, Program: "/bin/sh", Bwrap: "/bin/sh", Hidden: []string{at("state"), at("none")}, Own: []string{at("state/tasks/t1")}}
		spec.Shares = []sandbox.Share{{Outside: at("state/tasks/t1/workspace"), Inside: "/own"}}
		if _, err := sandbox.New(spec); err != nil {
			t.Fatal(err)
		}
		c.change(&spec)
		_, err := sandbox.New(spec)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if name == "no bubblewrap" && !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%s: %v is not ErrUnavailable", name, err)
		}
	}
}

// TestMountPoints: what an agent leaves in the workspace leads no mount elsewhere, and
// makes nothing be made outside.
func TestMountPoints(t *testing.T) {
	b := within(t, func(b *box) {
		b.mkdir("workspace/.git")
		b.mkdir("out")
		b.spec.Shares = []sandbox.Share{{Outside: b.mkdir("git"), Inside: "/workspace/.git"}}
		b.write("git/HEAD", "x")
	})
	b.want(`cat .git/HEAD`, "x")
	own := within(t, func(b *box) {
		b.write("git/config", "x")
		b.spec.Shares = []sandbox.Share{
			{Outside: filepath.Join(b.dir, "git"), Inside: "/run/tandemux/git", Write: true},
			{Outside: filepath.Join(b.dir, "git/config"), Inside: "/run/tandemux/git/config"},
		}
	})
	own.want(`cd /run/tandemux/git; echo 1 >new; cat new config`, "1\nx")
	own.fails("change what is for reading", `cd /run/tandemux/git; echo x >config || mv config c || rm config || ln -sf new config`)
	b.fails("move a mount point away", `mv .git away || rmdir .git`)
	git := filepath.Join(b.dir, "workspace/.git")
	for name, leave := range map[string]func() error{
		"a link":                    func() error { return os.Symlink(filepath.Join(b.dir, "out"), git) },
		"a link that leads nowhere": func() error { return os.Symlink(filepath.Join(b.dir, "out/made"), git) },
		"nothing":                   func() error { return nil },
	} {
		os.RemoveAll(git)
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Wrap(t.Context(), agent.Launch{Argv: []string{"true"}, Dir: b.spec.Workspace}); err == nil {
			t.Errorf("%s in a mount point's place: no error", name)
		}
	}
	if all, _ := os.ReadDir(filepath.Join(b.dir, "out")); len(all) > 0 {
		t.Errorf("outside there is %v", all)
	}
}

// TestCode: what an agent is made of, and no more.
func TestCode(t *testing.T) {
	b := &box{t: t, dir: t.TempDir()}
	exe := func(name, text string) string {
		path := b.write(name, text)
		os.Chmod(path, 0o755)
		return path
	}
	node := exe("node/bin/node", "ELF")
	b.mkdir("node/lib/node_modules")
	cli := exe("node/lib/node_modules/@x/agent/dist/cli.js", "#!/usr/bin/env -S node --flag\n")
	if err := os.Symlink(cli, filepath.Join(b.dir, "node/bin/agent")); err != nil {
		t.Fatal(err)
	}
	alone := exe("alone/agent", "ELF")
	script := b.write("scripts/x.js", "")
	b.write("project/package.json", "{}")
	part := b.write("project/dist/main.js", "")
	for _, name := range []string{"env/libexec/env", "env/versions/1/bin/shimmed", "env/shims/shimmed"} {
		exe(name, "#!/bin/sh\n")
	}
	b.write("env/version", "1\n")
	lone := exe("other/shims/lone", "#!/bin/sh\n")
	path := filepath.Join(b.dir, "node/bin") + ":" + filepath.Join(b.dir, "env/shims") + ":/usr/bin"
	for _, c := range []struct {
		argv []string
		want []string
	}{
		{[]string{"agent", "--acp"}, []string{"node/bin/agent", "node/lib/node_modules", "node/bin/node", "node/bin", "node/lib"}},
		{[]string{alone}, []string{"alone/agent"}},
		{[]string{node, script}, []string{"node/bin/node", "node/bin", "node/lib", "scripts/x.js"}},
		{[]string{"sh", part}, []string{"project/dist/main.js", "project"}},
		{[]string{"sh", "-c", "x"}, nil},
		{[]string{"shimmed"}, []string{"env/shims/shimmed", "env/libexec", "env/versions", "env/shims", "env/version"}},
		{[]string{lone}, []string{"other/shims/lone"}},
		{[]string{"no-such"}, nil},
	} {
		var want []string
		for _, w := range c.want {
			want = append(want, filepath.Join(b.dir, w))
		}
		if got := sandbox.Code(c.argv, path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.argv, got, want)
		}
	}
}

// TestCodeBesideSecrets: a program that lies beside what is hidden is shown alone.
func TestCodeBesideSecrets(t *testing.T) {
	b := &box{t: t, dir: t.TempDir()}
	agent := b.write("bin/agent", "ELF")
	script := b.write("agent.py", "")
	for _, p := range []string{agent, script} {
		os.Chmod(p, 0o755)
	}
	b.mkdir("home/.local/state")
	want := []string{agent, script}
	if got := sandbox.Code([]string{agent, script}, "/usr/bin", filepath.Join(b.dir, "home/.local/state")); !slices.Equal(got, want) {
		t.Errorf("beside the state: %q, want %q", got, want)
	}
	t.Setenv("HOME", filepath.Join(b.dir, "home"))
	if got := sandbox.Code([]string{agent, script}, "/usr/bin"); !slices.Equal(got, want) {
		t.Errorf("beside HOME: %q, want %q", got, want)
	}
}

// TestCheck: a machine without bubblewrap, and one whose bubblewrap can't.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	if err := sandbox.Check(context.Background(), filepath.Join(dir, "none")).Err; !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "apt install bubblewrap") {
		t.Error(err)
	}
	fake := filepath.Join(dir, "bwrap")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1\" = --version ] && { echo bubblewrap 0.9; exit; }\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sandbox.Check(context.Background(), fake)
	if !errors.Is(s.Err, sandbox.ErrUnavailable) || !strings.Contains(s.Err.Error(), "No permissions") || !strings.Contains(s.Err.Error(), "user namespaces") || s.Version != "0.9" {
		t.Error(s)
	}
	// One that takes too long on a busy machine says nothing of what is allowed there.
	if err := os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1\" = --version ] && { echo bubblewrap 0.9; exit; }\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := sandbox.Check(ctx, fake).Err; !errors.Is(err, sandbox.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "user namespaces") {
		t.Error(err)
	}
}
