package config

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestFollow: a notice for each way in which editors and dotfile managers write,
// none where the content stays or other files change.
func TestFollow(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "config", "tandemux")
	ctx, cancel := context.WithCancel(context.Background())
	ch, err := Follow(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rename := func(text, to string) {
		t.Helper()
		write(t, filepath.Join(home, "new"), text)
		try(os.Rename(filepath.Join(home, "new"), to))
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"made with its directories", func() { write(t, path, "theme = \"nord\"\n") }},
		{"written in place", func() { write(t, path, "theme = \"gruvbox\"\n") }},
		{"renamed onto", func() { rename("theme = \"auto\"\n", path) }},
		{"and again", func() { rename("theme = \"nord\"\n", path) }},
		{"a first theme", func() { write(t, filepath.Join(dir, ThemesDir, "mine.toml"), "dark = true\n") }},
		{"a theme changed", func() { write(t, filepath.Join(dir, ThemesDir, "mine.toml"), "dark = false\n") }},
		{"removed", func() { try(os.Remove(path)) }},
		{"a link", func() {
			write(t, filepath.Join(home, "dotfiles", "tandemux.toml"), "theme = \"solarized\"\n")
			try(os.Symlink(filepath.Join(home, "dotfiles", "tandemux.toml"), path))
		}},
		{"where the link leads, in place", func() { write(t, filepath.Join(home, "dotfiles", "tandemux.toml"), "theme = \"nord\"\n") }},
		{"where the link leads, renamed onto", func() { rename("clock = \"12h\"\n", filepath.Join(home, "dotfiles", "tandemux.toml")) }},
		{"the directory gone", func() { try(os.RemoveAll(dir)) }},
		{"and there again", func() { write(t, path, "theme = \"rose-pine\"\n") }},
	} {
		step.do()
		select {
		case <-ch:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: no notice", step.name)
		}
	}
	cancel()
	for range ch { // one of a state in between, perhaps
	}
	// What changes nothing is not told.
	ctx, cancel = context.WithCancel(context.Background())
	if ch, err = Follow(ctx, dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	rename("theme = \"rose-pine\"\n", path)
	write(t, filepath.Join(dir, "notes"), "x")
	write(t, filepath.Join(home, "config", "other"), "x")
	select {
	case <-ch:
		t.Error("a notice for nothing")
	case <-time.After(3 * settle):
	}
	cancel()
	if _, more := <-ch; more {
		t.Error("a notice after the end")
	}
}

// TestArm: a directory that is made while those to watch are looked for is watched, or
// something is heard of it.
func TestArm(t *testing.T) {
	home := t.TempDir()
	for i := range 500 {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(home, strconv.Itoa(i), "tandemux")
		f := follower{dir: dir, watcher: w, log: slog.New(slog.DiscardHandler)}
		made := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(i%100) * time.Microsecond)
			made <- os.MkdirAll(dir, 0o755)
		}()
		f.arm()
		if err := <-made; err != nil {
			t.Fatal(err)
		}
		for !slices.Contains(w.WatchList(), dir) {
			select {
			case <-w.Events:
				f.arm()
			case <-time.After(10 * time.Second):
				t.Fatalf("%d: %v are watched, and nothing is heard", i, w.WatchList())
			}
		}
		w.Close()
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
