package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/pty"
)

var updateUsage = flag.Bool("usage", false, "write testdata/usage.txt anew")

// TestWrongUsage: each wrong command line of testdata/usage.txt ends with 2 and one
// sentence, the one that stands below it, before a host is asked for.
func TestWrongUsage(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	const file = "testdata/usage.txt"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	lines := 0
	for _, line := range strings.Split(string(want), "\n") {
		words, is := strings.CutPrefix(line, "$ tandemux")
		if !is {
			continue
		}
		lines++
		root := newRoot()
		var out, said strings.Builder
		root.SetOut(&out)
		root.SetErr(&said)
		root.SetIn(strings.NewReader(""))
		code := cli.Run(context.Background(), root, split(words), "")
		fmt.Fprintf(&got, "%s\n%s", line, said.String())
		if code != cli.ExitUsage || out.String() != "" || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%s: code %d, %q and on stdout %q", line, code, said.String(), out.String())
		}
	}
	if *updateUsage {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != string(want) {
		t.Errorf("the errors differ from %s (go test ./cmd/tandemux -run TestWrongUsage -usage writes it):\n%s", file, got.String())
	}
	if lines < 100 {
		t.Errorf("%d command lines, want 100", lines)
	}
	for _, never := range []string{"strconv", "struct", "[]", "invalid argument", "arg(s)", "shorthand", "json:", "flags in the group"} {
		if strings.Contains(got.String(), never) {
			t.Errorf("an error says %q", never)
		}
	}
}

// asks is a question to a terminal, or what an interface sets up.
var asks = lazily("\x1b(?:[P\\]_^7=>]|\\[[0-9;?>=$]*[a-ln-zA-Z])")

// TestHelp: --help of each command answers on a terminal that never does, asks it nothing
// and touches neither a host nor the home directory.
func TestHelp(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, dir+"/tandemux"); err != nil {
		t.Fatal(err)
	}
	n := 0
	everyCommand(completeRoot(t), func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		if n++; c.Name() == "keeper" || n%5 > 0 && testing.Short() {
			return
		}
		t.Run(c.CommandPath(), func(t *testing.T) {
			t.Parallel()
			home, run := t.TempDir(), t.TempDir()
			cmd := exec.Command(dir+"/tandemux", append(words, "--help")...)
			cmd.Env = []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + run, "PATH=/usr/bin:/bin", "TERM=xterm-256color"}
			terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			defer terminal.Close()
			out, _ := io.ReadAll(terminal) // it ends with an error, as ptys do
			if err := cmd.Wait(); err != nil || !bytes.Contains(out, []byte("tandemux "+strings.Join(words, " "))) {
				t.Errorf("%v: %s", err, out)
			}
			if question := asks().Find(out); question != nil {
				t.Errorf("it asks or sets up the terminal with %q", question)
			}
			for _, d := range []string{home, run} {
				if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
					t.Errorf("it leaves %v, %v", left, err)
				}
			}
		})
	})
}

// split makes words of a line; ” and 'a b' are one each.
func split(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
