package emutest

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/native"
)

func TestProgram(t *testing.T) {
	one := Program(rand.New(rand.NewPCG(1, 1)), 20, 6, 50, All)
	if two := Program(rand.New(rand.NewPCG(1, 1)), 20, 6, 50, All); !bytes.Equal(one, two) {
		t.Errorf("one seed gives two programs")
	}
	plain := Program(rand.New(rand.NewPCG(1, 1)), 20, 6, 500, 0)
	for _, s := range []string{"\x1b]", "\x1b[?", "\x1bP", "世"} {
		if bytes.Contains(plain, []byte(s)) {
			t.Errorf("a program without features has %q", s)
		}
	}
}

func TestShrink(t *testing.T) {
	got := Shrink([]byte("some text with x in it"), func(p []byte) bool { return bytes.ContainsRune(p, 'x') })
	if string(got) != "x" {
		t.Errorf("got %q", got)
	}
}

// forgetful is an engine with one fault.
type forgetful struct {
	emulator.Emulator
	fault string
	wrote int
}

func (f *forgetful) Write(p []byte) {
	f.wrote++
	if f.fault == "split" && f.wrote > 1 {
		p = bytes.TrimPrefix(p, []byte("["))
	}
	f.Emulator.Write(p)
}

func (f *forgetful) Snapshot(buf []byte, n int) []byte {
	buf = f.Emulator.Snapshot(buf, n)
	if f.fault == "snapshot" {
		return bytes.ReplaceAll(buf, []byte("\x1b[1m"), nil)
	}
	return buf
}

func (f *forgetful) Damage() emulator.Damage {
	d := f.Emulator.Damage()
	if f.fault == "damage" && !d.All && len(d.Lines) > 1 {
		d.Lines[1] = emulator.Span{}
	}
	return d
}

func (f *forgetful) Cursor() emulator.Cursor {
	c := f.Emulator.Cursor()
	if f.fault == "sane" && c.Y > 2 {
		c.X = -1
	}
	return c
}

// TestFaults: each property finds an engine that breaks it.
func TestFaults(t *testing.T) {
	program := []byte("one\r\ntwo\x1b[1mbold\x1b[m\r\n\x1b[2;2Hxx\x1b[4;1Hy" + strings.Repeat("\x1b[31mz", 30))
	for fault, check := range map[string]func(New, emulator.Options, []byte, *rand.Rand) error{
		"split": splitInvariance, "snapshot": snapshotRebuild, "damage": damageCovers, "sane": sanity,
	} {
		for _, broken := range []string{"", fault} {
			err := check(func(o emulator.Options) emulator.Emulator {
				return &forgetful{Emulator: native.New(o), fault: broken}
			}, emulator.Options{Cols: 20, Rows: 5}, program, rand.New(rand.NewPCG(1, 1)))
			if (err != nil) != (broken != "") {
				t.Errorf("%s with the fault %q: %v", fault, broken, err)
			}
		}
	}
}
