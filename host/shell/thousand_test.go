package shell

import (
	"fmt"
	"testing"

	"tandemux/internal/soak"
)

// A thousand quick commands in a row, all typed ahead, are a thousand pairs of
// executed and finished with the right exit codes, in order. A
// soak runs all of them, else there are fifty.
func TestThousandCommands(t *testing.T) {
	total := soak.Size(t, soak.Short(15, 50), 1000)
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell, files: map[string]string{".zshrc": "", "x": "exit $1"}}).ready()
		line := func(i int) string { return fmt.Sprintf("sh x %d", i%251) }
		const ahead = 20
		for i := range total {
			s.wait("room", func() bool { return s.count(Finished) >= i-ahead })
			s.send(line(i) + "\r")
		}
		s.wait("the last end", func() bool { return s.count(Finished) == total })
		s.mu.Lock()
		defer s.mu.Unlock()
		n, open := 0, false
		for _, e := range s.events {
			switch e.Kind {
			case Executed:
				if open || !e.Known || e.CommandLine != line(n) {
					t.Fatalf("command %d: executed %q (known %v), the one before open: %v", n, e.CommandLine, e.Known, open)
				}
				open = true
			case Finished:
				if !open || exitText(e.ExitCode) != fmt.Sprint(n%251) {
					t.Fatalf("command %d: exit %s, open %v", n, exitText(e.ExitCode), open)
				}
				open = false
				n++
			}
		}
		if n != total {
			t.Errorf("%d commands, want %d", n, total)
		}
	})
}
