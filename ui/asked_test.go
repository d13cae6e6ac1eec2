package ui_test

import (
	"testing"

	"tandemux/ahp"
)

// Typing right behind the key that takes a terminal is not lost while the host
// has not answered yet: it reaches the host behind the claim.
func TestTypingBehindAClaim(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
	sh := u.Host.Terminal("sh1")
	sh.Claim(ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1", Chat: "ahp-chat:/c1"})
	u.WaitIdle()
	u.Type("lost")
	u.Read("\x00rkept")
	if sh.Typed() != "kept" {
		t.Errorf("the program got %q, want %q", sh.Typed(), "kept")
	}
	if sh.Holder().ClientID != ClientID {
		t.Errorf("held by %+v", sh.Holder())
	}
}
