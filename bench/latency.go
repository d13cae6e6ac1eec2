package main

import (
	"fmt"
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

// keysInto types into the echoing program and gives the times until each answer.
func (b *bench) keysInto(s *session) ([]time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s.send(self + " " + echoChild + "\r")
	if err := s.wait("READY", 20*time.Second); err != nil {
		return nil, err
	}
	s.drainFor(300 * time.Millisecond)
	var all []time.Duration
	cpu, sleeps := s.work()
	for i := range b.keys {
		s.drainFor(30 * time.Millisecond)
		start := time.Now()
		s.send("x")
		if err := s.wait(letter(i), 5*time.Second); err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		all = append(all, time.Since(start))
	}
	s.drainFor(30 * time.Millisecond)
	cpu2, sleeps2 := s.work()
	s.perKey = fmt.Sprintf("%.0f / %.1f", (cpu2-cpu).Seconds()*1e6/float64(b.keys), float64(sleeps2-sleeps)/float64(b.keys))
	s.send("q")
	slices.Sort(all)
	return all, nil
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

func quantile(sorted []time.Duration, q float64) float64 {
	return millis(sorted[min(int(float64(len(sorted))*q), len(sorted)-1)])
}

// echo is the time from a key to its echo with nothing else going on.
func (b *bench) echo(k kind) error {
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	all, err := b.keysInto(s)
	if err != nil {
		return err
	}
	b.note(k, "key to echo, p50 / p99, ms", "%.2f / %.2f", quantile(all, .5), quantile(all, .99))
	b.note(k, "a key: processor time, µs / sleeps", "%s", s.perKey)
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
	b.note(k, "key to echo beside three floods, p50 / p99, ms", "%.1f / %.1f", quantile(all, .5), quantile(all, .99))
	return nil
}

// press sends a key after the prefix as a person would, not in one burst.
func (s *session) press(keys string) {
	s.send(keys[:1])
	s.drainFor(60 * time.Millisecond)
	s.send(keys[1:])
	s.drainFor(700 * time.Millisecond)
}
