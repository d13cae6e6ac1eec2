package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
)

// FuzzArchive: whatever an archive is, what comes of it stays where it belongs, and
// both readers of archives agree on what they refuse.
func FuzzArchive(f *testing.F) {
	for _, headers := range badArchives {
		f.Add(tarOf(f, headers...))
	}
	f.Add(tarOf(f, reg("a"), reg("d/b"), sym("s", ".."), lnk("h", "a")))
	f.Add(tarOf(f, reg(".claude/a"), sym(".claude/s", "/"), reg(".claude/s/b"), reg(".codex"), reg("d/b")))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	s, err := Open(Options{State: filepath.Join(f.TempDir(), "state"), Limits: filetree.Limits{Files: 1000, Bytes: 1 << 20, FileSize: 1 << 20}})
	if err != nil {
		f.Fatal(err)
	}
	tree := must(s.NewTree(background, "fs", ""))(f)
	out, _ := outsider(f)
	work := create(f, s, "folders", Spec{Kind: Filesystem, Filesystem: "fs"})
	before := lines(f, out)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		home := t.TempDir()
		in := filepath.Join(home, "in")
		mkdirs(t, in)
		mkdirs(t, filepath.Join(in, "d"))
		write(t, in, map[string]string{"s -> " + out: "", "keep": "x"})
		_, stored := tree.ReadArchive(background, bytes.NewReader(b), "")
		_, fresh := filetree.Unpack(background, bytes.NewReader(b), filepath.Join(home, "new"), filetree.PullOptions{})
		_, _ = filetree.Unpack(background, bytes.NewReader(b), in, filetree.PullOptions{Overwrite: true})
		folder := must(work.SystemFolders().Make(".claude"))(t)
		write(t, folder, map[string]string{"s -> " + out: "", "keep": "x"})
		list, files := file(t, work.path(systemName), "folders.json"), lines(t, work.Dir())
		_, brought := work.SystemFolders().Read(background, bytes.NewReader(b), folders.Selection{Names: []string{".claude", ".codex"}, Leave: []string{".claude/keep"}, Delete: true})
		if now := file(t, work.path(systemName), "folders.json"); file(t, folder, "keep") != "x" || lines(t, work.Dir()) != files || now != list && brought != nil {
			t.Errorf("its folders are %s:\n%s", now, lines(t, work.path(systemName)))
		}
		if lines(t, out) != before {
			t.Error("what is outside was changed")
		}
		for _, e := range must(os.ReadDir(home))(t) {
			if e.Name() != "in" && e.Name() != "new" {
				t.Errorf("left %s", e.Name())
			}
		}
		if errors.Is(stored, filetree.ErrTooLarge) || errors.Is(fresh, filetree.ErrTooLarge) {
			return
		}
		// In a directory a file takes the place of an earlier one, and git's own files
		// are left out; in a filesystem neither is a matter. Else they agree.
		if stored != nil && fresh == nil && !strings.Contains(stored.Error(), "no directory") && !bytes.Contains(b, []byte("git")) {
			t.Errorf("unpacked though it can't be stored: %v", stored)
		}
		if stored != nil && !errors.Is(stored, filetree.ErrInvalid) {
			t.Errorf("error %v", stored)
		}
		if stored == nil {
			m := must(tree.Manifest())(t)
			for i := range m.Entries {
				if err := filetree.CheckPath(m.Entries[i].Path); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
