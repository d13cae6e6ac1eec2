package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"tandemux/internal/cli"
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
