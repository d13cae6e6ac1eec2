package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"golang.org/x/term"
)

// echoChild is the argument that makes this program the one that is typed into.
const echoChild = "echo-child"

// echoKeys answers each key with the next Greek letter at a fixed place, and
// ends at q.
func echoKeys() {
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print("\x1b[2J\x1b[HREADY")
	var b [1]byte
	for i := 0; ; i++ {
		if n, err := os.Stdin.Read(b[:]); n == 0 || err != nil || b[0] == 'q' {
			return
		}
		fmt.Print("\x1b[5;5H" + letter(i))
	}
}

func letter(i int) string { return string(rune('α' + i%17)) } // up to ρ

// keysInto types into the echoing program and gives the times until each answer. Each key goes
// into all sessions, in any order.
func (b *bench) keysInto(sessions ...*session) ([][]time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := make([][]time.Duration, len(sessions))
	cpu, sleeps := make([]time.Duration, len(sessions)), make([]int, len(sessions))
	for i, s := range sessions {
		s.send(self + " " + echoChild + "\r")
		if err := s.wait("READY", 20*time.Second); err != nil {
			return nil, err
		}
		s.drainFor(300 * time.Millisecond)
		cpu[i], sleeps[i] = s.work()
	}
	for key := range b.keys {
		for _, i := range rand.Perm(len(sessions)) {
			s := sessions[i]
			s.drainFor(30 * time.Millisecond)
			start := time.Now()
			s.send("x")
			if err := s.wait(letter(key), 5*time.Second); err != nil {
				return nil, fmt.Errorf("key %d: %w", key, err)
			}
			all[i] = append(all[i], time.Since(start))
		}
	}
	for i, s := range sessions {
		s.drainFor(30 * time.Millisecond)
		cpu2, sleeps2 := s.work()
		s.perKey = fmt.Sprintf("%.0f / %.1f", (cpu2-cpu[i]).Seconds()*1e6/float64(b.keys), float64(sleeps2-sleeps[i])/float64(b.keys))
		s.send("q")
	}
	return all, nil
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

func quantile(all []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return millis(sorted[min(int(float64(len(sorted))*q), len(sorted)-1)])
}

// echo is the time from a key to its echo with nothing else going on.
func (b *bench) echo(k kind) error {
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	sessions := []*session{s}
	if b.other != "" && k.name == "tandemux" {
		other, err := b.open(kind{name: k.name, argv: []string{b.other}})
		if err != nil {
			return err
		}
		defer other.close()
		sessions = append(sessions, other)
	}
	all, err := b.keysInto(sessions...)
	if err != nil {
		return err
	}
	b.note(k, "key to echo, p50 / p99, ms", "%.2f / %.2f", quantile(all[0], .5), quantile(all[0], .99))
	b.note(k, "a key: processor time, µs / sleeps", "%s", s.perKey)
	if len(all) > 1 {
		for i := range all[1] {
			all[1][i] -= all[0][i]
		}
		b.note(k, "the other one's key takes longer, p25 / p50 / p75, ms", "%+.3f / %+.3f / %+.3f", quantile(all[1], .25), quantile(all[1], .5), quantile(all[1], .75))
	}
	return nil
}

// flood is the same beside three panes that print all the time.
func (b *bench) flood(k kind) error {
	if len(k.splits) == 0 {
		return nil
	}
	file, err := b.file("ascii")
	if err != nil {
		return err
	}
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	for _, split := range k.splits {
		s.send("while :; do cat " + file + "; done\r")
		s.drainFor(300 * time.Millisecond)
		s.press(split)
	}
	all, err := b.keysInto(s)
	if err != nil {
		return err
	}
	b.note(k, "key to echo beside three floods, p50 / p99, ms", "%.1f / %.1f", quantile(all[0], .5), quantile(all[0], .99))
	return nil
}

// press sends a key after the prefix as a person would, not in one burst.
func (s *session) press(keys string) {
	s.send(keys[:1])
	s.drainFor(60 * time.Millisecond)
	s.send(keys[1:])
	s.drainFor(700 * time.Millisecond)
}
