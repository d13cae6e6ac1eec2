package shell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// story feeds OSC bodies to a tracker and returns what it says, one per word.
// "N" in front of a body stands for ours.
func story(tr *Tracker, bodies string) string {
	var out []string
	for body := range strings.FieldsSeq(bodies) {
		events := []Event(nil)
		if body == "exit" {
			events = tr.finish(nil, nil)
		} else {
			if own, ok := strings.CutPrefix(body, "N"); ok {
				body = "7501;secret;" + own
			}
			m, _ := Parse([]byte(body), "secret")
			events = tr.Mark(m)
		}
		for _, e := range events {
			s := kindNames[e.Kind]
			switch e.Kind {
			case Executed:
				s += "=" + e.CommandLine
				if !e.Known {
					s += "?"
				}
			case Finished:
				s += "=" + exitText(e.ExitCode)
			case Cwd:
				s += "=" + e.Host + e.Dir
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

func TestTracker(t *testing.T) {
	for _, c := range []struct{ name, marks, want string }{
		{"a command", "NA NB NE;ls NC;1 ND;0 NA NB", "available prompt input executed=ls finished=0 prompt input"},
		{"no finish mark", "NA NB NE;a NC;1 NA NB NE;b NC;2 NA", "available prompt input executed=a finished=nil prompt input executed=b finished=nil prompt"},
		{"only executions: the prompt's marks are gone", "NA NE;a NC;1 NE;b NC;2 ND", "available prompt executed=a finished=nil executed=b finished=nil"},
		{"end without a beginning", "NA ND;7 NA ND;137", "available prompt prompt"},
		{"an empty line", "NA;1 NB ND;0 NA;2 NB", "available prompt input prompt input"},
		{"the same prompt drawn again", "NA;1 NB NA;1 NB NE;x NC;1 ND;0 NA;1", "available prompt input input executed=x finished=0 prompt"},
		{"a second execution of the same", "NA NE;a NC;5 NC;5 ND;2", "available prompt executed=a finished=2"},
		{"a line that is not known", "NA NB NC;1 ND;0 NA NC;2", "available prompt input executed=? finished=0 prompt executed=?"},
		{"continuation prompts", "NA NB NF NG NF NG NC;1 NF ND;0", "available prompt input more less more less executed=? finished=0"},
		{"forged marks (measured: 633;E;fake;BAD 633;D;0 133;D)", "NA NB NE;real NC;1 633;E;fake;BAD 633;D;0 133;D;0 133;A 133;C 7501;bad;D;0 ND;3", "available prompt input executed=real finished=3"},
		{"forged at the prompt", "NA NB 633;E;rm 633;C 133;C NE;x NC;1 ND;0", "available prompt input executed=x finished=0"},
		{"foreign marks alone: fish 4", "133;A;special_key=1 133;C;cmdline_url=ls%20-l 133;D;1 133;A", "available prompt executed=ls -l finished=1 prompt"},
		{"foreign twice: 133 and 633 of one shell", "133;A 633;A 633;B 133;C;cmdline_url=ls 633;E;ls 633;C 133;D;1 633;D;1 133;A 633;A 633;B", "available prompt prompt input executed=ls finished=1 prompt prompt input"},
		{"foreign, then ours", "133;A 133;B 133;C ND;0 NA NE;x NC;1 133;D;9 ND;0 133;A", "available prompt input executed=? finished=nil prompt executed=x finished=0"},
		{"foreign marks that no shell begins with", "133;D;0 633;C 133;C 633;E;x", ""},
		{"a line before the execution counts once", "633;A 633;E;a 633;C 633;D;0 633;A 633;C", "available prompt executed=a finished=0 prompt executed=?"},
		{"an empty line after a line", "633;A 633;E;a 633;A 633;C", "available prompt prompt executed=?"},
		{"the process ends", "NA NE;x NC;1 exit NA", "available prompt executed=x finished=nil prompt"},
		{"directories", "7;file://h/a%20b NW;/x;y 633;P;Cwd=/no 1337;CurrentDir=/no 7;file:///no 7;kitty-shell-cwd://h/a%20b", "cwd=h/a b cwd=/x;y cwd=h/a%20b"},
		{"directories of foreign shells", "633;P;Cwd=/a\\x3bb 1337;RemoteHost=u@far 1337;CurrentDir=/c", "cwd=/a;b cwd=far/c"},
		{"ours exits after ssh", "NA NE;ssh NC;1 133;A 133;B 133;C 133;D;1 133;A ND;255 NA", "available prompt executed=ssh finished=255 prompt"},
	} {
		if got := story(new(Tracker), c.marks); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// consistent checks what a tracker promises of any sequence of marks.
type consistent struct {
	open, available, trusted bool
}

func (c *consistent) check(m Mark, events []Event) error {
	c.trusted = c.trusted || m.Trusted
	if len(events) > 3 {
		return fmt.Errorf("%d events of one mark", len(events))
	}
	for _, e := range events {
		if e.Kind != Cwd && e.Kind != Available && !c.available {
			return fmt.Errorf("%v before available", e)
		}
		switch e.Kind {
		case Available:
			if c.available {
				return fmt.Errorf("available twice")
			}
			c.available = true
		case Executed:
			if c.open {
				return fmt.Errorf("two commands open")
			}
			c.open = true
			if !e.Known && e.CommandLine != "" {
				return fmt.Errorf("unknown, but %q", e.CommandLine)
			}
		case Finished:
			if !c.open {
				return fmt.Errorf("finished without executed")
			}
			c.open = false
			if e.ExitCode != nil && (m.Kind != Done || *e.ExitCode != m.Exit) {
				return fmt.Errorf("exit code %d of %v", *e.ExitCode, m)
			}
		}
		if c.trusted && !m.Trusted && e.Kind != Cwd {
			return fmt.Errorf("untrusted %v made %v", m, e)
		}
	}
	return nil
}

// Any marks in any order: no command ends that has not begun, no two are open,
// untrusted marks do nothing after a trusted one, and taking the untrusted away
// then changes nothing.
func TestTrackerProperties(t *testing.T) {
	kinds := []Kind{Ignored, Prompt, Input, Secondary, SecondaryEnd, Line, Execute, Done, Directory, Remote}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		tr, lonely := new(Tracker), new(Tracker)
		var c consistent
		for range 60 {
			m := Mark{
				Kind: kinds[r.IntN(len(kinds))], Trusted: r.IntN(2) == 0, ID: uint64(r.IntN(3)),
				Text: "/x", HasText: r.IntN(2) == 0, Exit: r.IntN(9), HasExit: r.IntN(3) > 0,
			}
			if !c.trusted && seed%2 == 0 {
				m.Trusted = true // half of them begin with ours
			}
			events := tr.Mark(m)
			if err := c.check(m, events); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if seed%2 == 0 && m.Trusted {
				if alone := lonely.Mark(m); fmt.Sprint(alone) != fmt.Sprint(events) {
					t.Fatalf("seed %d: untrusted marks changed what %v means: %v, alone %v", seed, m, events, alone)
				}
			}
		}
		if tr.Running != c.open {
			t.Fatalf("seed %d: running %v, open %v", seed, tr.Running, c.open)
		}
	}
}

func FuzzTracker(f *testing.F) {
	f.Add("133;A\n633;C\n7501;secret;E;x\n7501;secret;C;1\n7501;secret;D;0")
	f.Add("7;file://a/b\n1337;File=x\n133;C;cmdline=$'\\u263a'\n633;E;\\x3b\\\\;n")
	f.Fuzz(func(t *testing.T, bodies string) {
		tr := new(Tracker)
		var c consistent
		for body := range strings.SplitSeq(bodies, "\n") {
			m, ours := Parse([]byte(body), "secret")
			if !ours && m != (Mark{}) {
				t.Fatalf("%q: passed on, but %v", body, m)
			}
			if err := c.check(m, tr.Mark(m)); err != nil {
				t.Fatal(err)
			}
		}
		tr.finish(nil, nil)
		if tr.Running {
			t.Fatal("running after the end")
		}
	})
}
