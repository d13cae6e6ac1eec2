package engine

import (
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
)

func TestNew(t *testing.T) {
	if !slices.Contains(Names(), Default) {
		t.Errorf("the default, %s, is none of %v", Default, Names())
	}
	for _, name := range append(Names(), "") {
		e, err := New(name, emulator.Options{Cols: 30, Rows: 3})
		if err != nil {
			t.Fatal(err)
		}
		e.Write([]byte("hi\x1b[6n"))
		if got := emulator.LineText(e.Line(0, nil)); got != "hi" {
			t.Errorf("%q shows %q", name, got)
		}
		ev := e.Events()
		if len(ev) != 1 || ev[0].Text != "\x1b[1;3R" {
			t.Errorf("%q answers %v", name, ev)
		}
	}
}

func TestUnknown(t *testing.T) {
	_, err := New("xterm", emulator.Options{})
	if err == nil || !strings.Contains(err.Error(), "vt10x") {
		t.Errorf("an unknown engine gives %v", err)
	}
}
