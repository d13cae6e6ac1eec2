package ui_test

import (
	"os"
	"path/filepath"
	"strings"

	"tandemux/emulator/emutest"
)

// Golden compares the screen, cursor first, with testdata/<name>.txt.
func (u *UI) Golden(name string) {
	u.t.Helper()
	u.GoldenText(name, emutest.Screen(u.screen))
}

// GoldenStyled compares screen and colours.
func (u *UI) GoldenStyled(name string) {
	u.t.Helper()
	u.GoldenText(name, emutest.Screen(u.screen)+"\n"+emutest.Attrs(u.screen))
}

// GoldenText compares a text made of screens.
func (u *UI) GoldenText(name, got string) {
	u.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got = strings.TrimRight(got, "\n") + "\n"
	if *emutest.Update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			u.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			u.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatalf("read golden (run the test with -update to write it): %v\n%s", err, got)
	}
	if string(want) != got {
		u.t.Errorf("the screen is not %s:\n%s", path, emutest.Diff(got, string(want)))
	}
}
