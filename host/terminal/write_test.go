package terminal

import (
	"testing"

	"golang.org/x/sys/unix"

	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/keeper"
)

// A key is in the pty when Input returns: no other goroutine has to be woken.
func TestInputIsWrittenByItsCaller(t *testing.T) {
	master, slave := openPair(t)
	defer unix.Close(slave)
	term := New(Config{
		Process: keeper.Process{ID: "keys", Pty: master}, Cols: 80, Rows: 24,
		Emulator: native.New(emulator.Options{Cols: 80, Rows: 24}),
	})
	defer func() {
		term.Close()
		<-term.Done()
	}()
	written := 0
	if now := term.input.now; now != nil {
		term.input.now = func(p []byte, typed bool) int {
			n := now(p, typed)
			written += n
			return n
		}
	}
	if err := term.Input("x"); err != nil {
		t.Fatal(err)
	}
	if written != 1 {
		t.Errorf("%d bytes were written at once, want 1", written)
	}
}
