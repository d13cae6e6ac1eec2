package main

import "testing"

// TestOftenRunCommands: a command that is made alone is the one that is made among all.
func TestOftenRunCommands(t *testing.T) {
	for name := range often {
		alone, _, err := rootFor([]string{name}).Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		among, _, err := newRoot().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		if alone.UsageString() != among.UsageString() || alone.Long != among.Long {
			t.Errorf("%s alone is\n%s\nand among the others\n%s", name, alone.UsageString(), among.UsageString())
		}
		if all := rootFor([]string{name, "--help"}); len(all.Commands()) < 20 {
			t.Errorf("the help of %s knows %d commands", name, len(all.Commands()))
		}
	}
}
