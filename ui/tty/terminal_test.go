package tty_test

import (
	"bytes"
	"io"
	"testing"

	"tandemux/internal/pty"
	"tandemux/ui/tty"
)

// TestNothingBehindTheLeave: what is written as the terminal is given back, by whoever is
// late, is written before the last words or not at all.
func TestNothingBehindTheLeave(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	term, err := tty.Open(slave, slave, []string{"TERM=xterm"})
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Enter(); err != nil {
		t.Fatal(err)
	}
	frame := make(chan struct{})
	go func() {
		defer close(frame)
		_, _ = term.Write(bytes.Repeat([]byte("frame"), 20_000)) // more than a terminal takes at once
	}()
	for buf := make([]byte, 1<<10); !bytes.Contains(buf, []byte("frame")); {
		if _, err := master.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	given := make(chan struct{})
	go func() {
		defer close(given)
		term.Restore()
		for _, write := range []func([]byte) (int, error){term.Write, func(p []byte) (int, error) { return term.TryWrite(p), nil }} {
			if n, err := write([]byte("late")); n != 4 || err != nil {
				t.Errorf("what comes late: %d, %v", n, err)
			}
		}
		term.Close()
		if _, _, err := term.Size(); err == nil {
			t.Error("a size behind the end")
		}
		if err := term.Enter(); err == nil {
			t.Error("entered behind the end")
		}
		slave.Close()
	}()
	all, _ := io.ReadAll(master) // ends with an error
	<-given
	<-frame
	if leave := tty.LeaveSequence(tty.Guess([]string{"TERM=xterm"})); !bytes.HasSuffix(all, []byte(leave)) {
		t.Errorf("the last words are %q, want %q", all[max(0, len(all)-200):], leave)
	}
}
