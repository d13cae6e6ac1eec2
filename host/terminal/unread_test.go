package terminal

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestUnread: however late a shell reads Enter, what it prints first doesn't say yet whether a
// command begins.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &input{}
		in.entered.changed = &in.changed
		in.enteredAt.Store(time.Now().UnixNano())
		in.entered.set(true)
		time.Sleep(2 * EnterTime) // which is the bubble's own
		if !in.unread() {
			t.Error("nothing has followed Enter, and it counts as read")
		}
		in.outputCame()
		if !in.unread() {
			t.Error("the echo has come, and it counts as declined at once")
		}
		in.outputCame()
		time.Sleep(EnterTime)
		if in.unread() {
			t.Error("no command has begun, and Enter still counts as unread")
		}
	})
}
