package ui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ui"
	"tandemux/ui/recording"
)

// studio is a desk that records; it remembers what it was told.
type studio struct {
	papers
	path    string
	typed   string
	stopped int
	err     error
}

func (s *studio) Record(_ context.Context, uri ahp.URI, path string) (recording.Recording, string, error) {
	if s.err != nil {
		return nil, "", s.err
	}
	s.path = path
	return s, "/home/ann/" + path, nil
}

func (s *studio) Input(data []byte) { s.typed += string(data) }

func (s *studio) Stop() (time.Duration, error) {
	s.stopped++
	return 12 * time.Second, s.err
}

func recordingUI(t *testing.T, w, h int, change func(*ui.Config)) (*UI, *studio) {
	t.Helper()
	s := &studio{}
	u := New(t, Options{W: w, H: h, Config: func(c *ui.Config) {
		c.Desk = ui.Desk{Texts: s, Recorder: s}
		if change != nil {
			change(c)
		}
	}})
	return u, s
}

// TestRecord: a key asks for a file and begins a recording, which shows; the key
// ends it. What is typed is not in it.
func TestRecord(t *testing.T) {
	for _, size := range threeSizes {
		u, s := recordingUI(t, size.w, size.h, nil)
		u.Press("ctrl+space ctrl+r")
		u.Shows("record to", ".cast")
		u.Press("ctrl+u")
		u.Type("x.cast\r")
		if s.path != "x.cast" {
			t.Errorf("it records to %q", s.path)
		}
		u.Advance(10 * time.Second)
		u.Golden("recording-" + size.name)
		u.Type("secret")
		if s.typed != "" {
			t.Errorf("what was typed is recorded: %q", s.typed)
		}
		u.Press("ctrl+space ctrl+r")
		u.Shows("recorded 12s to ~/x.cast")
		u.Advance(10 * time.Second)
		u.Hides("recording")
		if s.stopped != 1 {
			t.Errorf("it was stopped %d times", s.stopped)
		}
	}
}

// TestRecordInput: what is typed is recorded when that is asked for.
func TestRecordInput(t *testing.T) {
	u, s := recordingUI(t, 80, 24, func(c *ui.Config) { c.RecordInput = true })
	u.Press("ctrl+space :")
	u.Type("record y.cast\r")
	u.Type("ls")
	if s.typed != "ls" {
		t.Errorf("recorded is %q", s.typed)
	}
	u.Press("ctrl+space |") // another terminal is not this one
	u.Type("no")
	if s.typed != "ls" {
		t.Errorf("recorded is %q", s.typed)
	}
	u.Advance(10 * time.Second)
	u.Shows("recording")
}

// TestRecordEnds: with its terminal's program, and not at all where it can't begin.
func TestRecordEnds(t *testing.T) {
	u, s := recordingUI(t, 80, 24, nil)
	u.Press("ctrl+space :")
	u.Type("record y.cast\r")
	u.Host.Terminal(u.Host.Terminals()[0]).Exit(1, "")
	u.WaitIdle()
	u.Shows("recorded 12s to ~/y.cast")
	if s.stopped != 1 {
		t.Errorf("it was stopped %d times", s.stopped)
	}
	u, s = recordingUI(t, 80, 24, nil)
	s.err = errors.New("y.cast is there already")
	u.Press("ctrl+space :")
	u.Type("record y.cast\r")
	u.Shows("y.cast is there already")
	u = New(t, Options{})
	u.Press("ctrl+space ctrl+r")
	u.Shows("there is nowhere to record to")
}

// Leaving ends what the interface records, and says so.
func TestDetachEndsRecordings(t *testing.T) {
	u, s := recordingUI(t, 80, 24, nil)
	u.Press("ctrl+space ctrl+r", "ctrl+u")
	u.Type("x.cast\r")
	u.Press("ctrl+space d")
	want := "detached; everything runs on\nbut the recording to ~/x.cast ended with the interface; tandemux record goes on without one"
	if got, ended := u.Ended(); !ended || got.Note != want || s.stopped != 1 {
		t.Errorf("left with %+v, the recording was stopped %d times", got, s.stopped)
	}
}
