package main

import (
	"slices"
	"testing"

	"tandemux/ahp/palette"
	"tandemux/internal/config"
	"tandemux/ui"
)

// TestInterface: interfaces elsewhere are told the keys, the commands and the colours that
// this one has, and who does not operate the host no program that a key starts.
func TestInterface(t *testing.T) {
	var look ui.Look
	if problems := config.Read([]byte("prefix = \"ctrl+b\"\ntheme = \"nord\"\n[keys]\n\"prefix Z\" = \"popup secret --token x\"\n\"prefix |\" = \"split-down\"\n"), look.Options()); len(problems) > 0 {
		t.Fatal(problems)
	}
	tell := interfaceOf(func() *ui.Look { return &look })
	has := func(i palette.Interface, keys, command string) bool {
		return slices.ContainsFunc(i.Keys, func(b palette.Binding) bool { return b.Keys == keys && b.Command == command })
	}
	all, err := tell(true)
	if err != nil {
		t.Fatal(err)
	}
	if all.Prefix != "ctrl+b" || !has(all, "ctrl+b |", "split-down") || !has(all, "ctrl+b Z", "popup") || !has(all, "ctrl+b c", "new-tab") {
		t.Errorf("the prefix is %s, the keys are %v", all.Prefix, all.Keys)
	}
	if all.Dark.Name != "nord-dark" || all.Light.Name != "nord-light" || len(all.Dark.Colors["foreground"]) != 7 {
		t.Errorf("the themes are %v and %v", all.Dark, all.Light)
	}
	i := slices.IndexFunc(all.Commands, func(c palette.Command) bool { return c.Name == "rename-tab" })
	if i < 0 || !all.Commands[i].Do || !slices.Equal(all.Commands[i].Args, []string{"NAME"}) {
		t.Errorf("the commands are %v", all.Commands)
	}
	less, err := tell(false)
	if err != nil || has(less, "ctrl+b Z", "popup") || !has(less, "ctrl+b c", "new-tab") {
		t.Errorf("%v: a reader is told the keys %v", err, less.Keys)
	}
}
