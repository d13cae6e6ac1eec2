package ui_test

import (
	"strings"
	"testing"
	"time"

	"tandemux/ui"
)

// What the host's owner has to see to stands in the status line for as long as it
// is so, and is said when it begins and ends.
func TestHostWarnings(t *testing.T) {
	u := start(t)
	u.Host.Warned("the disk is full")
	u.WaitIdle()
	u.Shows("the host warns: the disk is full")
	u.Advance(time.Minute) // of the message
	u.WaitIdle()
	u.Shows("host: the disk is full")
	u.Host.Warned("")
	u.WaitIdle()
	u.Shows("all is well with the host again")
	u.Advance(time.Minute)
	u.WaitIdle()
	if strings.Contains(u.Screen(), "the disk is full") {
		t.Errorf("the warning stays:\n%s", u.Screen())
	}
}

// The first hint gives way to a warning, which would be cut beside it.
func TestWarningBeforeHint(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.Hint = true }})
	u.Shows("press ctrl+space")
	u.Host.Warned("command history: no space left on device")
	u.WaitIdle()
	u.Advance(time.Minute) // of the message
	u.WaitIdle()
	u.Shows("host: command history: no space left on device")
	u.Hides("ctrl+space")
	u.Host.Warned("")
	u.WaitIdle()
	u.Advance(time.Minute)
	u.WaitIdle()
	u.Shows("press ctrl+space")
}
