package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/smalldisk"
	"tandemux/internal/soak"
)

// TestEndsOnFullDisk: where the disk is full nothing is begun, and everything can be ended, also
// by a host that starts then; with room all goes on (U44).
func TestEndsOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if smalldisk.Mount(t, dir, "16m") {
		return
	}
	state := filepath.Join(dir, "state")
	s := open(t, state)
	ctx := context.Background()
	made := deploy(t, s, deployment("a", "main", "a"))
	var tasks []Task
	var events []Event
	for n := range 20 {
		task := begin(t, s, made, fmt.Sprint("t", n))
		e, err := s.AddEvent(ctx, Event{TaskID: task.ID, Content: []Part{TextPart("x")}})
		if err == nil {
			e, _, err = s.BeginEvent(ctx, e.ID, e.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		tasks, events = append(tasks, task), append(events, e)
	}
	long := make([]StreamEvent, 200) // pages that deleting gives back one by one
	for i := range long {
		long[i] = StreamEvent{Type: "x", Data: json.RawMessage(`"` + strings.Repeat("x", 500) + `"`)}
	}
	for range 10 {
		if _, err := s.AppendStream(ctx, tasks[0].ID, long); err != nil {
			t.Fatal(err)
		}
	}
	smalldisk.Fill(t, filepath.Join(dir, "filler"))
	refused := 0
	for n := 0; n < 3000 && refused < soak.Short(50, 3000); n++ { // as much as the log has room for
		if _, err := s.AppendStream(ctx, tasks[1].ID, long[:10]); errors.Is(err, Full) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Fatal("the disk does not fill")
	}
	if _, err := s.AddEvent(ctx, Event{TaskID: tasks[2].ID, Content: []Part{TextPart("x")}}); !errors.Is(err, Full) {
		t.Errorf("another event: %v", err)
	}
	end := func(s *Store, n int) {
		t.Helper()
		if _, changed, err := s.EndTask(ctx, tasks[n].ID, Cancelled, ""); err != nil || !changed {
			t.Errorf("cancel %d: %v %v", n, changed, err)
		}
		if _, err := s.EndEvent(ctx, TurnEnd{Event: events[n].ID, Status: EventDiscarded, Full: true}); err != nil {
			t.Errorf("end the turn of %d: %v", n, err)
		}
		if _, err := s.Tasks.EditFull(ctx, tasks[n].ID, func(r *Task) error { r.Facts.Ended = true; return nil }); err != nil {
			t.Errorf("note the end of %d: %v", n, err)
		}
		if _, _, err := s.EndTask(ctx, tasks[n].ID, Deleting, ""); err != nil {
			t.Errorf("delete %d: %v", n, err)
		}
		if _, err := s.DeleteTask(ctx, tasks[n].ID); err != nil {
			t.Errorf("remove %d: %v", n, err)
		}
	}
	for n := range 10 {
		end(s, n)
	}
	s.Close()
	smalldisk.Fill(t, filepath.Join(dir, "filler2")) // what closing gave back
	s = open(t, state)
	if _, err := s.Tasks.Get(ctx, tasks[11].ID); err != nil {
		t.Errorf("read: %v", err)
	}
	smalldisk.Fill(t, filepath.Join(dir, "filler2"))
	for n := 10; n < 13; n++ {
		end(s, n)
	}
	for _, name := range []string{"filler", "filler2"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for n := 13; n < 19; n++ {
		end(s, n)
	}
	if _, err := s.AppendStream(ctx, tasks[19].ID, long[:1]); err != nil {
		t.Errorf("with room: %v", err)
	}
}
