package ui_test

import (
	"testing"
)

// Where there is no room to say how much is folded, it says that something is.
func TestFoldIsMarkedWhereThereIsLittleRoom(t *testing.T) {
	u := New(t, Options{W: 40, H: 12})
	sh := u.Host.Terminal("sh1")
	sh.Detect()
	sh.Run("a command of thirty characters", "output\r\n", 0)
	u.WaitIdle()
	u.Press("ctrl+space e")
	u.Hides("output")
	u.Shows("a command of thirty characters      ▸")
}

// What is folded stays so in another tab and back, and over a reattach, until it is
// unfolded; it goes with the terminal of the pane.
func TestFoldsStay(t *testing.T) {
	u := New(t, Options{})
	sh := u.Host.Terminal("sh1")
	sh.Detect()
	sh.Run("one", "first a\r\nfirst b\r\n", 0)
	sh.Run("two", "second\r\n", 0)
	u.WaitIdle()
	u.Press("ctrl+space {", "ctrl+space {", "ctrl+space e")
	u.Hides("first a")
	u.Press("ctrl+space c", "ctrl+space 1")
	u.Hides("first a")
	u.Shows("second", "2 lines")
	u.Press("ctrl+space d")
	again := u.Again(Options{})
	again.Hides("first a")
	again.Shows("second", "2 lines")
	again.Press("ctrl+space {", "ctrl+space {", "ctrl+space e")
	again.Shows("first a")
	again.Press("ctrl+space d")
	u = again.Again(Options{})
	u.Shows("first a", "second")
}
