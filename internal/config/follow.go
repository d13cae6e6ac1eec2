package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"tandemux/internal/hosts"
	"tandemux/internal/pace"
)

// settle is how long the files have to be left alone before they are read: an
// editor takes several steps to save one.
const settle = 60 * time.Millisecond

// Follow tells when config.toml, the list of hosts or a theme beside it has other content than
// before, however it was written: in place, by renaming another file onto it,
// through a link. Directories that are not there yet are waited for. The channel
// holds one notice, which stands for all that have not been taken; it is closed
// when the context ends. Nothing is polled.
func Follow(ctx context.Context, dir string, log *slog.Logger) (<-chan struct{}, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("follow the configuration: %w", err)
	}
	f := follower{dir: dir, watcher: w, log: log}
	f.arm()
	f.last = fingerprint(dir)
	ch := make(chan struct{}, 1)
	go func() {
		defer close(ch)
		defer w.Close()
		f.run(ctx, ch)
	}()
	return ch, nil
}

// follower is the state of Follow.
type follower struct {
	dir     string
	watcher *fsnotify.Watcher
	log     *slog.Logger
	last    [sha256.Size]byte
}

func (f *follower) run(ctx context.Context, ch chan<- struct{}) {
	quiet := time.NewTimer(settle)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			if f.concerns(ev.Name) {
				quiet.Reset(settle)
			}
		case err, ok := <-f.watcher.Errors:
			if !ok {
				return
			}
			f.log.Warn("follow the configuration", "err", err) // it may be that notices were lost
			quiet.Reset(settle)
		case <-quiet.C:
			f.arm()
			now := fingerprint(f.dir)
			if now == f.last {
				continue
			}
			f.last = now
			pace.Wake(ch)
		}
	}
}

// concerns reports whether something that happened to a path can matter: in
// directories above ours only what leads to it does.
func (f *follower) concerns(path string) bool {
	parent := filepath.Dir(path)
	return path == f.dir || strings.HasPrefix(f.dir, path+string(filepath.Separator)) ||
		parent == f.dir || !strings.HasPrefix(f.dir, parent+string(filepath.Separator))
}

// arm watches the directories that the files are in, or will be. Of one that is made, or
// removed, before those above it are watched nothing is heard: it looks again until all is
// as it was.
func (f *follower) arm() {
	for want := places(f.dir); ; {
		for _, dir := range f.watcher.WatchList() {
			if !slices.Contains(want, dir) {
				_ = f.watcher.Remove(dir) // it may be gone
			}
		}
		for _, dir := range want {
			// A directory that was removed and made again is another one.
			if err := f.watcher.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.log.Warn("follow the configuration", "dir", dir, "err", err)
			}
		}
		now := places(f.dir)
		if slices.Equal(now, want) {
			return
		}
		want = now
	}
}

// places are the directories to watch: the configuration's, its themes', those
// that links among them lead to, and where one is missing the nearest above it.
func places(dir string) []string {
	dirs := []string{filepath.Dir(dir)} // from where it may be renamed away
	for _, p := range [...]string{dir, filepath.Join(dir, ThemesDir)} {
		for up := filepath.Dir(p); up != p; p, up = up, filepath.Dir(up) {
			if info, err := os.Stat(p); err == nil && info.IsDir() {
				break
			}
		}
		dirs = append(dirs, p)
	}
	for _, path := range files(dir) {
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if target, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	return dirs
}

// files are config.toml, the list of hosts and the themes.
func files(dir string) []string {
	paths := []string{filepath.Join(dir, FileName), filepath.Join(dir, hosts.File)}
	entries, _ := os.ReadDir(filepath.Join(dir, ThemesDir))
	for _, e := range entries[:min(len(entries), maxThemes)] {
		if strings.HasSuffix(e.Name(), ".toml") {
			paths = append(paths, filepath.Join(dir, ThemesDir, e.Name()))
		}
	}
	return paths
}

// fingerprint tells contents apart.
func fingerprint(dir string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, path := range files(dir) {
		doc, err := readFile(path, maxFile)
		fmt.Fprintf(h, "%q %d %v\n", path, len(doc), err != nil)
		h.Write(doc)
	}
	h.Sum(sum[:0])
	return sum
}
