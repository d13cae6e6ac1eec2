package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecure: what others could put files into is refused with what to do, and what is
// usual is not.
func TestSecure(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(dir, state string) error
		refused string
	}{
		"as it is made":     {func(_, _ string) error { return nil }, ""},
		"readable":          {func(_, state string) error { return os.Chmod(state, 0o755) }, ""},
		"others may write":  {func(_, state string) error { return os.Chmod(state, 0o777) }, "chmod go-w"},
		"a group may write": {func(_, state string) error { return errOr(os.Chmod(state, 0o770), os.Lchown(state, -1, 12345)) }, "chmod go-w"},
		"one's own group": {func(_, state string) error {
			if !ownGroup(uint32(os.Getgid())) {
				return errors.New("this user has none")
			}
			return os.Chmod(state, 0o770)
		}, ""},
		"sticky itself":          {func(_, state string) error { return os.Chmod(state, 0o777|os.ModeSticky) }, "chmod go-w"},
		"above, others write":    {func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "chmod go-w"},
		"above, sticky":          {func(dir, _ string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }, ""},
		"somebody else's":        {func(_, state string) error { return os.Lchown(state, 12345, -1) }, "belongs to uid 12345"},
		"somebody else's, above": {func(dir, _ string) error { return os.Lchown(dir, 12345, -1) }, "belongs to uid 12345"},
		"a link":                 {func(dir, state string) error { return relink(dir, state, 0o700) }, ""},
		"a link to what is open": {func(dir, state string) error { return relink(dir, state, 0o777) }, "chmod go-w"},
		"not there":              {func(_, state string) error { return os.Remove(state) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			t.Setenv("HOME", top)
			dir := filepath.Join(top, "above")
			state := filepath.Join(dir, "state")
			if err := os.MkdirAll(state, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.prepare(dir, state); err != nil {
				t.Skip(err) // not root
			}
			err := Secure(state)
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("%v", err)
			}
		})
	}
	// Above the home directory it is not ours to judge; elsewhere the root is the end.
	top := t.TempDir()
	home := filepath.Join(top, "home")
	if err := errOr(os.Mkdir(home, 0o700), os.Chmod(top, 0o777)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	if err := Secure(home); err != nil {
		t.Errorf("above the home directory: %v", err)
	}
	t.Setenv("HOME", "/nowhere")
	if err := Secure(home); err == nil || !strings.Contains(err.Error(), "`chmod go-w "+top+"`") {
		t.Errorf("elsewhere: %v", err)
	}
}

// TestReadSecure: a file that others may have written is not read.
func TestReadSecure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	if err := errOr(os.WriteFile(path, []byte("x"), 0o600), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 10); err != nil || string(b) != "x" {
		t.Errorf("readable by others: %q, %v", b, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 10); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("writable by others: %v", err)
	}
	if err := errOr(os.Chmod(path, 0o600), os.Lchown(path, 12345, -1)); err != nil {
		t.Skip(err)
	}
	if _, err := Read(path, 10); err == nil || !strings.Contains(err.Error(), "belongs to uid 12345") {
		t.Errorf("somebody else's: %v", err)
	}
}

// TestOpenSecure: a file is made for this user alone, and no link to one is followed.
func TestOpenSecure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.log")
	link := path + ".1"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	const flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if _, err := Open(link, flag); err == nil || !strings.Contains(err.Error(), link+" is a symbolic link: move it away") {
		t.Errorf("a link: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("what a link leads to was made")
	}
	f, err := Open(path, flag)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode() != 0o600 {
		t.Errorf("made with mode %v, %v", info.Mode(), err)
	}
	if _, err := Open(filepath.Dir(path), os.O_RDONLY); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// relink moves a directory elsewhere and leaves a link to it.
func relink(dir, state string, mode os.FileMode) error {
	to := filepath.Join(filepath.Dir(dir), "elsewhere")
	return errOr(os.Rename(state, to), os.Chmod(to, mode), os.Symlink(to, state))
}

func errOr(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
