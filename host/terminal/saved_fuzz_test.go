package terminal

import (
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/journal"
)

// FuzzSaved restores from whatever a journal may hold, though no host wrote it:
// a terminal is made, and shows what comes next.
func FuzzSaved(f *testing.F) {
	good := build(Config{Process: idlePty(f), Cols: 20, Rows: 5, Emulator: native.New(emulator.Options{Cols: 20, Rows: 5}), Child: Child{Nonce: "n"}})
	good.process(append(make([]byte, headroom), own("A")+"$ "+own("B")+own("E;make")+own("C;1")+"out\r\n"+own("D;0")+own("A")+"$ "+own("B")+"\x1b]0;t"...))
	_, _, records := good.Checkpoint(false, new([]byte))
	good.Close()
	f.Add(records[0].Data, records[1].Data, records[2].Data, "more", "c2")
	f.Add([]byte(`{"cols":10,"rows":3}`), []byte(strings.Repeat("x\r\n", 10)), make([]byte, 8), "", "")
	f.Add([]byte(`{`), []byte(nil), []byte(nil), "\x1b[", "x")
	f.Fuzz(func(t *testing.T, state, content, mark []byte, data, id string) {
		c := Config{
			Process: idlePty(t), Cols: 20, Rows: 5, Emulator: native.New(emulator.Options{Cols: 20, Rows: 5, History: 50}),
			delays: delays{time.Hour, time.Hour}, Failed: func(err error) { t.Log(err) },
		}
		c.Renew = func(cols, rows int) emulator.Emulator {
			return native.New(emulator.Options{Cols: cols, Rows: rows, History: 50})
		}
		term, err := Restore(c, Saved{
			State: []journal.Record{
				{Type: recordState, Version: 1, Data: state},
				{Type: recordContent, Version: 1, Data: content},
				{Type: recordOutput, Version: 1, Data: mark},
				{Type: recordPacked, Version: 1, Data: mark},
				{Type: recordTaken, Version: 1, Data: mark},
			},
			After: []journal.Record{{Type: "another's", Version: 9}},
			Actions: []ahp.Action{
				ahp.TerminalCleared{},
				ahp.TerminalData{Data: data},
				ahp.TerminalResized{Cols: 7, Rows: 2},
				ahp.TerminalCommandExecuted{CommandID: id},
				ahp.TerminalData{Data: data},
				ahp.TerminalCommandFinished{CommandID: id},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer term.Close()
		at := term.offset
		const next = "\x18\x1b\\\x1bc\x1b[Hok"
		term.process(append(make([]byte, headroom), next...))
		if got := emulator.ScreenText(term.emu); !strings.HasPrefix(got, "ok") {
			t.Errorf("the screen is %q", got)
		}
		if _, _, parts := term.Content(MaxWire); parts == nil {
			t.Error("no content")
		}
		if _, k, records := term.Checkpoint(false, new([]byte)); k.Offset != at+uint64(len(next)) || len(records) == 0 {
			t.Errorf("a checkpoint at %d, %d records", k.Offset, len(records))
		}
	})
}
