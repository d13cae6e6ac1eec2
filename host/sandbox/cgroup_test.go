//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCgroups: which cgroup is joined, and with which limits. The kernel's
// part of it is TestLimits'.
func TestCgroups(t *testing.T) {
	both := Limits{Memory: 1 << 30, Processes: 99}
	for name, c := range map[string]struct {
		own   string            // /proc/self/cgroup
		files map[string]string // those of the tree
		limit Limits
		want  map[string]string // files that were written; nil: there is no cgroup
	}{
		"the nearest that hands both on": {
			"0::/user/app/x\n",
			map[string]string{"user/cgroup.subtree_control": "cpu memory pids", "user/app/cgroup.subtree_control": "cpu memory", "user/app/x/cgroup.procs": ""},
			both,
			map[string]string{"user/tandemux-t/memory.max": "1073741824", "user/tandemux-t/pids.max": "99", "user/tandemux-t/cgroup.procs": "7"},
		},
		"one limit": {
			"0::/a\n",
			map[string]string{"a/cgroup.subtree_control": "memory pids"},
			Limits{Processes: 3},
			map[string]string{"a/tandemux-t/pids.max": "3", "a/tandemux-t/cgroup.procs": "7"},
		},
		"none hands on":   {"0::/a/b\n", map[string]string{"a/cgroup.subtree_control": "cpu", "a/b/x": ""}, both, nil},
		"version 1 alone": {"9:memory:/m\n8:cpu,pids:/p\n", map[string]string{"m/cgroup.subtree_control": "memory pids"}, both, nil},
	} {
		t.Run(name, func(t *testing.T) {
			defer func(root string) { cgroupRoot = root }(cgroupRoot)
			cgroupRoot = t.TempDir()
			for path, text := range c.files {
				path = filepath.Join(cgroupRoot, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := enterAbove(c.own, "t", c.limit, 7)
			if (err == nil) != (c.want != nil) {
				t.Fatal(err)
			}
			got := map[string]string{}
			filepath.WalkDir(cgroupRoot, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.Contains(path, "/tandemux-t/") {
					os.Chmod(path, 0o600) // a real one is there already
					text, _ := os.ReadFile(path)
					rel, _ := filepath.Rel(cgroupRoot, path)
					got[rel] = string(text)
				}
				return nil
			})
			for path, want := range c.want {
				if got[path] != want {
					t.Errorf("%s is %q, want %q", path, got[path], want)
				}
			}
			if len(got) > len(c.want) {
				t.Errorf("there is %v", got)
			}
		})
	}
}

// TestFilter: the filter is whole instructions, whose jumps end inside of it.
func TestFilter(t *testing.T) {
	f := filter()
	if len(f) == 0 || len(f)%8 != 0 {
		t.Fatalf("%d bytes", len(f))
	}
	n := len(f) / 8
	for i := range n {
		jt, jf := int(f[i*8+2]), int(f[i*8+3])
		last := i == n-1
		if !last && i+1+max(jt, jf) >= n {
			t.Errorf("instruction %d of %d jumps by %d or %d", i, n, jt, jf)
		}
		if last && f[i*8] != 0x06 {
			t.Error("it doesn't end by returning")
		}
	}
}
