package terminal

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/terminal/output"
)

// TestPackedOutput: what a command printed is the same out of a journal whether it was packed
// or not, takes less there, and what is damaged is an error.
func TestPackedOutput(t *testing.T) {
	t.Parallel()
	state := journal.Record{Type: recordState, Version: 1, Data: encode(saved{Cols: 80, Rows: 24})}
	for _, size := range []int{output.HeadBytes / 2, output.HeadBytes, 100 << 10, 500 << 10} {
		var s output.Store
		cmd := &command{info: ahp.CommandInfo{ID: "c3"}}
		r := rand.NewChaCha8([32]byte{byte(size)})
		raw := make([]byte, size*3/4)
		r.Read(raw) //nolint:errcheck // never fails
		for piece := []byte(base64.StdEncoding.EncodeToString(raw)); len(piece) > 0; piece = piece[min(len(piece), 5000):] {
			cmd.out.Add(s.Add(piece[:min(len(piece), 5000)]))
		}
		var got [2][]byte
		var records [2][]journal.Record
		for i := range got {
			var buf []byte
			records[i] = new(kept).outputs(nil, []*command{cmd}, false, &buf)
			cp, err := readCheckpoint(Saved{State: append([]journal.Record{state}, records[i]...)})
			if err != nil || len(cp.outputs[3]) == 0 {
				t.Fatalf("%d bytes: %d are read, %v", size, len(cp.outputs[3]), err)
			}
			got[i] = cp.outputs[3]
			for cmd.out.Pack() {
			}
		}
		if !bytes.Equal(got[0], got[1]) {
			t.Errorf("%d bytes: %d became %d, or others", size, len(got[0]), len(got[1]))
		}
		packed := records[1][0]
		if size <= output.HeadBytes {
			continue // there is no tail
		}
		if packed.Type != recordPacked || len(packed.Data) > len(records[0][0].Data)*7/8 {
			t.Errorf("%d bytes: %d of %s became %d of %s", size, len(records[0][0].Data), records[0][0].Type, len(packed.Data), packed.Type)
		}
		for n := 0; n < len(packed.Data); n += 1 + n/3 {
			cut := journal.Record{Type: recordPacked, Version: 1, Data: packed.Data[:n]}
			if _, err := readCheckpoint(Saved{State: []journal.Record{state, cut}}); err == nil {
				t.Errorf("%d bytes: the first %d of %d are taken", size, n, len(packed.Data))
			}
		}
	}
}

// TestShare: what is packed lies in a checkpoint's memory while that may be read, where more
// output changes nothing, and is whole once that memory is used for something else.
func TestShare(t *testing.T) {
	t.Parallel()
	master, _ := openPair(t)
	term := build(Config{
		Process: keeper.Process{ID: "shared", Pty: master}, Cols: 120, Rows: 40, Child: Child{Command: "random"},
		Emulator: native.New(emulator.Options{Cols: 120, Rows: 40, History: 8000}),
	})
	defer term.Close()
	r := rand.NewChaCha8([32]byte{7})
	random := func(lines int) {
		raw := make([]byte, 87)
		for range lines {
			r.Read(raw) //nolint:errcheck // never fails
			term.process(append(base64.StdEncoding.AppendEncode(make([]byte, headroom), raw), "\r\n"...))
		}
	}
	shows := func() string {
		all, _ := term.emu.SnapshotMarks(nil, -1)
		c, _ := term.Command("", 1, false)
		return string(all) + c.Output + c.Tail
	}
	random(9000)
	for term.Pack() {
	}
	var buf, saved []byte
	_, _, records := term.Checkpoint(false, &buf)
	for _, r := range records {
		saved = append(append(saved, r.Type...), r.Data...)
	}
	term.Share(saved)
	before := slices.Clone(saved)
	inside, outside := 0, 0
	within := func(p []byte) []byte {
		if at, begin := uintptr(unsafe.Pointer(&p[0])), uintptr(unsafe.Pointer(&saved[0])); at >= begin && at < begin+uintptr(len(saved)) {
			inside += len(p)
		} else {
			outside += len(p)
		}
		return p
	}
	term.emu.(emulator.Historian).Move(within)
	term.cmds.list[0].out.Move(within)
	if outside > 0 || inside < 700<<10 {
		t.Errorf("%d packed bytes lie in the checkpoint, %d do not", inside, outside)
	}
	random(1000)
	want := shows()
	for term.Pack() {
	}
	if shows() != want || !bytes.Equal(saved, before) {
		t.Error("more output shows something else, or has changed the checkpoint")
	}
	term.Share(nil)
	clear(saved)
	if shows() != want {
		t.Error("it shows something else when the checkpoint's memory was used again")
	}
}
