package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// texts are what is printed: about 18 MB of plain lines, of lines that change
// colour with each word, and 9 MB of many scripts.
var texts = map[string]func(w *bufio.Writer){
	"ascii": func(w *bufio.Writer) {
		for i := range 300_000 {
			fmt.Fprintf(w, "%08d the quick brown fox jumps over the lazy dog %d\n", i, i*7919%100003)
		}
	},
	"sgr": func(w *bufio.Writer) {
		for i := range 60_000 {
			for k := range 14 {
				fmt.Fprintf(w, "\x1b[38;5;%d;%dmword%d ", (i+k)%256, 22-k%2*21, k)
			}
			w.WriteString("\x1b[0m\n")
		}
	},
	"unicode": func(w *bufio.Writer) {
		for i := range 120_000 {
			fmt.Fprintf(w, "%d 漢字かな交じり文 😀🚀 naïve café Ελληνικά\n", i)
		}
	},
}

func (b *bench) file(name string) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	texts[name](w)
	if err := w.Flush(); err != nil {
		return "", err
	}
	return path, f.Close()
}

// throughput is how fast cat gets through, with all of it in the history; then
// what the processes take up.
func (b *bench) throughput(k kind) error {
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	for at, name := range []string{"ascii", "sgr", "unicode"} {
		path, err := b.file(name)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		var all []time.Duration
		cpu, _ := s.work()
		for i := range b.runs {
			end := string(rune('①' + (at*b.runs+i)%20)) // shown nowhere yet; in octal, so that the typed line has none of it
			s.send("clear; cat " + path + "; printf '" + octal(end) + "\\n'\r")
			start := time.Now()
			if err := s.wait(end, 2*time.Minute); err != nil {
				return fmt.Errorf("cat %s: %w", name, err)
			}
			all = append(all, time.Since(start))
			s.drain(300 * time.Millisecond)
		}
		size := float64(info.Size()) / 1e6
		b.note(k, "cat "+name+", MB/s", "%.1f", size*1e3/quantile(all, .5))
		if used, _ := s.work(); k.name != "raw" {
			b.note(k, "cat "+name+", processor time, ms/MB", "%.1f", millis(used-cpu)/size/float64(b.runs))
		}
	}
	if k.name != "raw" {
		s.drainFor(rest)
		b.note(k, "memory at rest after that (PSS), MiB", "%.1f", mib(s.memory()))
	}
	return nil
}

func octal(s string) (out string) {
	for _, c := range []byte(s) {
		out += fmt.Sprintf("\\%03o", c)
	}
	return out
}

// start is the time to the first prompt, and for tandemux also with its host
// running.
func (b *bench) start(k kind) error {
	var cold, warm, busyCold, busyWarm []time.Duration
	for range b.runs {
		s, err := newSession(b.dir)
		if err != nil {
			return err
		}
		err = s.start(k.argv...)
		if err == nil {
			err = s.wait(prompt, 20*time.Second)
		}
		cold = append(cold, time.Since(s.born))
		cpu, _ := s.work()
		busyCold = append(busyCold, cpu)
		if err == nil && k.name == "tandemux" {
			var d time.Duration
			d, cpu, err = b.again(k, s)
			warm, busyWarm = append(warm, d), append(busyWarm, cpu)
		}
		s.close()
		if err != nil {
			return err
		}
	}
	b.note(k, "start to the prompt, ms / processor time", "%.0f / %.1f", quantile(cold, .5), quantile(busyCold, .5))
	if len(warm) > 0 {
		b.note(k, "the same, host running", "%.0f / %.1f", quantile(warm, .5), quantile(busyWarm, .5))
	}
	return nil
}

// again leaves the interface and opens it once more on another layout, which
// gets a shell of its own.
func (b *bench) again(k kind, s *session) (took, cpu time.Duration, err error) {
	s.drain(200 * time.Millisecond)
	if err := s.leave(k); err != nil {
		return 0, 0, err
	}
	before, _ := s.work()
	if err := s.start(k.argv[0], "attach", "other"); err != nil {
		return 0, 0, err
	}
	err = s.wait(prompt, 20*time.Second)
	took = time.Since(s.born)
	cpu, _ = s.work()
	return took, cpu - before, err
}

// leave detaches and waits for the interface's end.
func (s *session) leave(k kind) error {
	s.press(k.detach)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		if _, err := s.read(100 * time.Millisecond); err != nil {
			s.pty.Close()
			return s.cmd.Wait()
		}
	}
	return fmt.Errorf("detach: %w", errTimeout)
}

// rest is how long nothing happens before memory is measured.
const rest = 6 * time.Second

// idle is what ten shells cost when nothing happens.
func (b *bench) idle(k kind) error {
	if k.window == "" {
		return nil
	}
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	s.drainFor(rest)
	b.note(k, "memory at rest, one shell (PSS), MiB", "%.1f", mib(s.memory()))
	for range 9 {
		s.press(k.window)
	}
	s.drainFor(2 * time.Second)
	cpu, _ := s.work()
	bytes := s.drainFor(10 * time.Second)
	used, _ := s.work()
	b.note(k, "10 idle shells, 10 s: bytes, processor time", "%d, %v", bytes, (used - cpu).Round(10*time.Millisecond))
	return nil
}
