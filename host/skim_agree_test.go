package host_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/host"
	"tandemux/internal/soak"
)

// skimming follows a terminal as the interface does: a screen takes the place of what
// there is, and while the history before it is not there, a new size asks for all.
type skimming struct {
	*fold
	uri         ahp.URI
	skims, part bool // the last screen has yet to come; its history is not there
}

func (s *skimming) whole() { s.fold, s.skims, s.part = s.follow(s.uri), false, false }

// until takes what comes until an action, and until skimming ends.
func (s *skimming) until(seq int64) {
	s.t.Helper()
	for s.skims || s.seq < seq {
		_, m, err := s.next()
		if err != nil {
			s.t.Fatalf("%v: at %d of %d, skimming %v", err, s.seq, seq, s.skims)
		}
		var e ahp.Skimmed
		if err := json.Unmarshal(m.Params, &e); m.Method == ahp.NoteSkimmed && err == nil && e.FromSeq >= s.seq {
			s.from[e.Resource], s.fold = e.FromSeq, s.starting(e.Snapshot)
			s.seq, s.skims, s.part = e.FromSeq, !e.Last, true
		} else if s.take(m); m.Method == ahp.NoteSkimmed {
			s.t.Fatalf("%v: a screen of %d after %d", err, e.FromSeq, s.seq)
		} else if s.part && strings.Contains(string(m.Params), `"terminal/resized"`) {
			s.whole()
		}
	}
}

// shown is all but the history.
func (f *fold) shown() string {
	cols, rows := f.screen.Size()
	e := native.New(emulator.Options{Cols: cols, Rows: rows})
	e.Write(f.screen.Snapshot(nil, 0))
	return f.look() + "\n" + emutest.Dump(e)
}

// TestSkimAgrees: whatever a program prints, however fast, and however its terminal is
// resized and cleared meanwhile, in the end a viewer that skims shows what one does that
// is told everything, and has the same history once it asks for it
// (docs/contributing/decisions.md §32).
func TestSkimAgrees(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Engine = "native" })
	rounds, skimmed := 6, false
	for seed := range uint64(soak.Size(t, soak.Short(1, 2), 60)) {
		rnd, dir, uri := rand.New(rand.NewPCG(seed, 11)), t.TempDir(), fmt.Sprint("ahp-terminal:/skim-", seed)
		p, v, s := w.connect(fmt.Sprint("p", seed)), w.connect(fmt.Sprint("v", seed)), w.connect(fmt.Sprint("s", seed))
		for _, o := range []*peer{p, v, s} {
			o.initialize()
		}
		// What it is answered when it asks its terminal something is for nobody.
		p.create(uri, "sh", "-c", `stty raw -echo; cat </dev/tty >/dev/null & cd "$1"; mkfifo do; printf ready; while read -r l; do eval "$l"; done <do`, "sh", dir)
		p.output(uri, "ready")
		shell, err := os.OpenFile(dir+"/do", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer shell.Close()
		full, skims := v.follow(uri), &skimming{fold: s.follow(uri), uri: uri}
		seq, cols, rows := int64(0), 80, 24
		done := func(a ahp.Action) int64 {
			seq++
			p.dispatch(uri, seq, a)
			return p.echo(seq).ServerSeq
		}
		for round := range rounds + 1 {
			if rnd.IntN(2) > 0 {
				skims.skims = true
				s.lastID++
				skims.send(map[string]any{"jsonrpc": "2.0", "id": s.lastID, "method": ahp.MethodSkim, "params": ahp.SubscribeParams{Channel: uri}})
			}
			for n := range 1 + rnd.IntN(4) {
				switch rnd.IntN(8) {
				case 0:
					cols, rows = 10+rnd.IntN(100), 2+rnd.IntN(40)
					done(ahp.TerminalResized{Cols: cols, Rows: rows})
				case 1:
					done(ahp.TerminalCleared{})
				default:
					file := fmt.Sprint(round, "-", n)
					if err := os.WriteFile(dir+"/"+file, flood(rnd, cols, rows), 0o600); err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(shell, "sleep 0.%d; cat %s\n", rnd.IntN(6)/4, file)
				}
			}
			// CAN and ST end whatever sequence the program has left open.
			fmt.Fprintf(shell, `printf '\030\033\\\033]2;mark-%d\033\\'; [ %d != %d ] || exit 3`+"\n", round, round, rounds)
			end := p.envelope("the end", func(e ahp.Envelope) bool {
				title, _ := e.Action.(ahp.TerminalTitleChanged)
				_, exited := e.Action.(ahp.TerminalExited)
				return exited || round < rounds && title.Title == fmt.Sprint("mark-", round)
			}).ServerSeq
			if skims.until(end); round < rounds && rnd.IntN(2) == 0 {
				cols, rows = 10+rnd.IntN(100), 2+rnd.IntN(40) // of a screen that stays
				end = done(ahp.TerminalResized{Cols: cols, Rows: rows})
			}
			full.until(end)
			skims.until(end)
			if d := emutest.Diff(skims.shown(), full.shown()); d != "" {
				t.Fatalf("seed %d, round %d, %d×%d: the viewer that skims shows something else:\n%s", seed, round, cols, rows, d)
			}
			if skimmed = skimmed || skims.part; rnd.IntN(4) == 0 {
				skims.whole()
			}
			if d := emutest.Diff(emutest.Dump(skims.screen), emutest.Dump(full.screen)); !skims.part && d != "" {
				t.Fatalf("seed %d, round %d, %d×%d: with its history it has something else:\n%s", seed, round, cols, rows, d)
			}
		}
	}
	if !skimmed {
		t.Error("nothing was skimmed")
	}
}

// flood is random output, most of it lines.
func flood(rnd *rand.Rand, cols, rows int) (text []byte) {
	for range 1 + rnd.IntN(6) {
		switch rnd.IntN(4) {
		case 0:
			text = append(text, emutest.Program(rnd, cols, rows, 1+rnd.IntN(40), emutest.All)...)
		case 1:
			text = fmt.Appendf(text, "\x1b]133;A\a$ \x1b]133;B\acmd\x1b]133;C\a\r\nout\r\n\x1b]133;D;%d\a\x1b]8;;http://h/%d\x1b\\link\x1b]8;;\x1b\\\a\r\n", rnd.IntN(3), rnd.IntN(9))
		default:
			line := fmt.Sprintf("\x1b[3%dm%s 漢字\x1b[m\r\n", rnd.IntN(8), strings.Repeat("x", rnd.IntN(2*cols)))
			text = append(text, strings.Repeat(line, 1+rnd.IntN(1<<rnd.IntN(12)))...)
		}
	}
	return text
}
