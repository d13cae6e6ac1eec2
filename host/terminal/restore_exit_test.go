package terminal

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/journal"
	"tandemux/host/keeper"
)

// An exit is told once, by the host that took it or else by the next one, with
// the end of the command that ran; later output is still shown.
func TestRestoreExit(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		o := journal.Options{Slots: 4}
		mem := make([]byte, o.Size())
		log, landing, err := journal.Create(mem, o)
		if err != nil {
			t.Fatal(err)
		}
		master, slave := openPair(t)
		makeRaw(t, slave)
		exit := keeper.Exit{ID: "it", Code: 3}
		config := func(l *journal.Landing) Config {
			return Config{
				Process: keeper.Process{ID: "it", Pty: master}, Cols: 80, Rows: 24, Child: Child{Command: "make", Dir: "file:///d"}, Landing: l,
				Emulator: native.New(emulator.Options{Cols: 80, Rows: 24}),
			}
		}
		first := build(config(landing))
		first.process(append(make([]byte, headroom), "out"...))
		m := &mortal{log: log, t: first, viewer: &viewer{emu: null{}}}
		m.checkpoint(false)
		if told {
			first.Exit(exit)
			first.reportExit()
			m.take()
		}
		first.exit.timer.Stop()
		log, landing, r, err := journal.Open(mem)
		if err != nil || log == nil {
			t.Fatal(err)
		}
		actions, err := decoded(r.Records)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Restore(config(landing), Saved{State: r.State, After: r.Records, Actions: actions})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := second.Running(); ok == told {
			t.Errorf("told %v: the command runs: %v", told, ok)
		}
		unix.Write(slave, []byte(" late"))
		unix.Close(slave)
		second.Start()
		second.Exit(exit)
		var all []ahp.Action
		h := &holder{t: t}
		h.poll("the end of the output, and the exit", func() bool {
			all = append(all, taken(second)...)
			exited := slices.ContainsFunc(all, func(a ahp.Action) bool { _, is := a.(ahp.TerminalExited); return is })
			return second.source.Parked() && second.offset >= 8 && (told || exited)
		})
		all = append(all, taken(second)...)
		var exits, ends int
		text := ""
		for _, a := range all {
			switch a := a.(type) {
			case ahp.TerminalExited:
				exits++
			case ahp.TerminalCommandFinished:
				ends++
				if *a.ExitCode != 3 {
					t.Errorf("%+v", a)
				}
			case ahp.TerminalData:
				text += a.Data
			}
		}
		want := 1
		if told {
			want = 0
		}
		if exits != want || ends != want || text != " late" {
			t.Errorf("told %v: %d exits, %d ends, output %q", told, exits, ends, text)
		}
		if cmd, ok := second.Command("", 1, false); !ok || cmd.CommandLine != "make" || *cmd.ExitCode != 3 || cmd.Cwd != "file:///d" {
			t.Errorf("told %v: the command is %+v", told, cmd)
		}
		second.Close()
		select {
		case <-second.Done():
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
	}
}
