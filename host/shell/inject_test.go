package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestInjectLeavesAlone(t *testing.T) {
	home := t.TempDir()
	for _, argv := range [][]string{
		nil,
		{"/bin/sh"},
		{"/bin/dash", "-i"},
		{"/bin/rbash"},
		{"/usr/bin/python3"},
		{"/bin/bash", "-c", "true"},
		{"/bin/bash", "--rcfile"},
		{"/bin/bash", "--posix"},
		{"/bin/bash", "-o", "posix"},
		{"/bin/bash", "-o"},
		{"/bin/bash", "-io", "X_Trace"},
		{"/bin/bash", "-oi", "vi"},
		{"/bin/bash", "+i"},
		{"/bin/bash", "--", "-i"},
		{"/bin/bash", "-"},
		{"/bin/bash", "-is", "x"},
		{"/bin/bash", "--norc", "script"},
		{"/bin/bash", "-r"},
		{"/bin/bash", "script"},
		{"/bin/bash", "-l", "-c", "true"},
		{"/bin/zsh", "-c", "true"},
		{"/bin/zsh", "-o", "no_rcs"},
		{"/bin/zsh", "+o", "rcs"},
		{"/bin/zsh", "--emulate", "sh"},
		{"/usr/bin/fish", "-c", "true"},
		{"/usr/bin/fish", "-C"},
		{"/usr/bin/fish", "--command=true"},
		{"/usr/bin/fish", "script"},
		{"bash.exe"},
	} {
		in := Launch{Argv: argv, Env: []string{"HOME=" + home, "A=b"}}
		dir := filepath.Join(t.TempDir(), "never")
		out, nonce, ok, err := Inject(in, dir)
		if ok || err != nil || nonce != "" || !slices.Equal(out.Argv, argv) || !slices.Equal(out.Env, in.Env) {
			t.Errorf("%q: %+v %v %v", argv, out, ok, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: a directory was made", argv)
		}
	}
	in := Launch{Argv: []string{"/usr/bin/bash"}, Env: []string{"POSIXLY_CORRECT="}}
	if _, _, ok, err := Inject(in, t.TempDir()); ok || err != nil {
		t.Errorf("POSIXLY_CORRECT: %v %v", ok, err)
	}
}

func TestInjectChanges(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".zshrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "a 'b'")
	for _, c := range []struct {
		argv, env []string
		wantArgv  string
		wantEnv   string
	}{
		{[]string{"/bin/bash"}, nil, "/bin/bash --init-file @/bash/tandemux.bash", ""},
		{[]string{"/bin/bash", "-i"}, []string{"ENV=x"}, "/bin/bash --init-file @/bash/tandemux.bash -i", "ENV=x"},
		{[]string{"/bin/bash", "-l"}, nil, "/bin/bash --posix -l", "ENV=@/bash/tandemux.bash"},
		{[]string{"/bin/bash", "--login"}, []string{"ENV=x", "TANDEMUX_SHELL_KEPT=stale"}, "/bin/bash --posix --login", "TANDEMUX_SHELL_KEPT=x ENV=@/bash/tandemux.bash"},
		{[]string{"/bin/zsh"}, []string{"HOME=" + home}, "/bin/zsh", "HOME=" + home + " ZDOTDIR=@/zsh"},
		{[]string{"zsh", "-il"}, []string{"ZDOTDIR=" + home}, "zsh -il", "TANDEMUX_SHELL_KEPT=" + home + " ZDOTDIR=@/zsh"},
		{[]string{"bash", "--norc", "-i"}, nil, "bash --posix --norc -i", "TANDEMUX_SHELL_RC= ENV=@/bash/tandemux.bash"},
		{[]string{"bash", "-l", "--noprofile"}, nil, "bash --posix -l --noprofile", "TANDEMUX_SHELL_RC= ENV=@/bash/tandemux.bash"},
		{[]string{"bash", "-l", "--norc"}, []string{"TANDEMUX_SHELL_RC=stale"}, "bash --posix -l --norc", "ENV=@/bash/tandemux.bash"},
		{[]string{"bash", "--rcfile", "x", "-o", "vi", "+O", "extglob"}, nil, "bash --rcfile x --init-file @/bash/tandemux.bash -o vi +O extglob", "TANDEMUX_SHELL_RC=x"},
		{[]string{"zsh", "-fi"}, nil, "zsh -fi +f", "ZDOTDIR=@/zsh TANDEMUX_SHELL_RC="},
		{[]string{"/bin/zsh", "-do", "vi"}, nil, "/bin/zsh -do vi", "ZDOTDIR=@/zsh"},
		{[]string{"fish", "-NPC", "true", "--features=x"}, nil, "fish --init-command source '" + strings.ReplaceAll(dir, "'", `\'`) + "/SUM/fish/tandemux.fish' -NPC true --features=x", ""},
		{[]string{"/bin/fish", "--interactive"}, nil, `/bin/fish --init-command source '` + strings.ReplaceAll(dir, "'", `\'`) + `/SUM/fish/tandemux.fish' --interactive`, ""},
	} {
		in := Launch{Argv: c.argv, Env: c.env}
		argv, env := slices.Clone(c.argv), slices.Clone(c.env)
		out, nonce, ok, err := Inject(in, dir)
		if !ok || err != nil || len(nonce) < 26 {
			t.Errorf("%q: %v %v %q", c.argv, ok, err, nonce)
			continue
		}
		if !slices.Equal(in.Argv, argv) || !slices.Equal(in.Env, env) {
			t.Errorf("%q: the argument was changed", c.argv)
		}
		all, err := embedded()
		if err != nil {
			t.Fatal(err)
		}
		short := strings.NewReplacer(filepath.Join(dir, "shell-"+all.sum), "@", "shell-"+all.sum, "SUM")
		if got := short.Replace(strings.Join(out.Argv, " ")); got != c.wantArgv {
			t.Errorf("argv %s\nwant %s", got, c.wantArgv)
		}
		got := short.Replace(strings.Join(out.Env, " "))
		want := strings.TrimSpace(c.wantEnv + " TANDEMUX_SHELL_NONCE=" + nonce)
		if got != want {
			t.Errorf("%q: env %s\nwant %s", c.argv, got, want)
		}
	}
}

func TestInstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var wait sync.WaitGroup
	for range 8 { // hosts that start at once
		wait.Go(func() {
			if _, err := install(dir, "bash"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	root, err := install(dir, "bash")
	if err != nil {
		t.Fatal(err)
	}
	all, err := embedded()
	if err != nil || len(all.files) != 3 {
		t.Fatalf("%d files, %v", len(all.files), err)
	}
	check := func() {
		t.Helper()
		n := 0
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v %v", path, info, err)
			}
			if !d.IsDir() {
				n++
			}
			return err
		})
		if n != 1 {
			t.Errorf("%d files, want one", n)
		}
		const name = "bash/tandemux.bash"
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != string(all.files[name]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check()
	// What was cut off, or changed, is written again.
	if err := os.WriteFile(filepath.Join(root, "bash/tandemux.bash"), []byte("exit"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install(dir, "bash"); err != nil {
		t.Fatal(err)
	}
	check()
}

func TestInstallRefuses(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, file, "relative", ""} {
		in := Launch{Argv: []string{"/bin/bash"}}
		out, nonce, ok, err := Inject(in, dir)
		if err == nil || ok || nonce != "" || len(out.Argv) != 1 {
			t.Errorf("%q: %+v %v %v", dir, out, ok, err)
		}
	}
}
