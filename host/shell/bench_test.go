package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// prompts make a prompt that can be seen in the data with marks and without.
var prompts = map[string]string{
	"bash": "PS1='READY> '", "zsh": "PROMPT='READY> '", "fish": "function fish_prompt; echo -n 'READY> '; end; set -g fish_greeting",
}

// BenchmarkPrompt is the time from Enter to the next prompt of a command that
// does nothing, and BenchmarkStart from a shell's start to its first prompt, with
// marks and without. The figures wanted are at most 5 ms and 30 ms more with
// them.
func BenchmarkPrompt(b *testing.B) {
	compare(b, func(b *testing.B, s setup) []time.Duration {
		se := begin(b, s)
		at := se.until("READY> ", 0)
		var all []time.Duration
		for b.Loop() {
			se.send(": x")
			at = se.until("x", at) // Until it is shown, it has been read.
			start := time.Now()
			se.send("\r")
			at = se.until("READY> ", at)
			all = append(all, time.Since(start))
		}
		return all
	})
}

func BenchmarkStart(b *testing.B) {
	compare(b, func(b *testing.B, s setup) []time.Duration {
		var all []time.Duration
		for b.Loop() {
			start := time.Now()
			se := begin(b, s)
			se.until("READY> ", 0)
			all = append(all, time.Since(start))
			se.cmd.Process.Kill()
		}
		return all
	})
}

// compare reports the medians of both.
func compare(b *testing.B, f func(*testing.B, setup) []time.Duration) {
	for _, shell := range shells(b) {
		kind := filepath.Base(shell)
		files := map[string]string{dialects[kind].rc: prompts[kind]}
		for _, plain := range []bool{true, false} {
			name := kind + "/marks"
			if plain {
				name = kind + "/plain"
			}
			b.Run(name, func(b *testing.B) {
				all := f(b, setup{shell: shell, files: files, plain: plain})
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "median-ms")
				b.ReportMetric(float64(all[len(all)*9/10].Microseconds())/1000, "p90-ms")
			})
		}
	}
}

// TestBashForksNothing: nothing that bash does before its first prompt takes a process, each of
// which is a millisecond.
func TestBashForksNothing(t *testing.T) {
	faults := func(t *testing.T, shell string, plain bool) string {
		s := begin(t, setup{shell: shell, files: map[string]string{".bashrc": "PS1='ready> '"}, plain: plain})
		s.wait("the first prompt", func() bool { return strings.Contains(string(s.data), "ready> ") })
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		if err != nil {
			t.Skip("there is no /proc: ", err)
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		return strings.Fields(after)[8] // cminflt, of children that have ended
	}
	each(t, "bash", func(t *testing.T, shell string) {
		if n := faults(t, shell, true); n != "0" {
			t.Skip("bash starts programs by itself here")
		}
		if n := faults(t, shell, false); n != "0" {
			t.Errorf("%s faults in processes that bash began", n)
		}
	})
}
