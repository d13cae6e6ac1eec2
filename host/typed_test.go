package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// A line is typed as it is where an empty prompt waits, and refused with the
// reason elsewhere: nothing is quoted, evaluated or waited for.
func TestTypedLine(t *testing.T) {
	t.Parallel()
	for name, path := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			p := w.connect("one")
			p.initialize()
			const uri = "ahp-terminal:/typed"
			startShell(w, p, uri, path)
			p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"true"}}, nil) // it has a prompt then
			p.ended(uri)
			typed := func(line string) (r ahp.RunResult, err error) {
				err = p.call(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: line, Typed: true}, &r)
				return r, err
			}
			const line = "echo 'a  b' | cat; true && echo c"
			r, err := typed(line)
			for err != nil && strings.Contains(err.Error(), "does not wait") {
				p.output(uri, "") // the prompt is on its way
				r, err = typed(line)
			}
			if err != nil || r.CommandLine != line {
				t.Fatalf("%+v, %v", r, err)
			}
			p.ended(uri)
			for what, c := range map[string]struct {
				p   ahp.RunParams
				why string
			}{
				"keys":    {ahp.RunParams{Line: "echo \x1b[201~\x03"}, "control characters"},
				"long":    {ahp.RunParams{Line: strings.Repeat("x", 70<<10)}, "too long to be typed"},
				"empty":   {ahp.RunParams{}, "takes a line"},
				"words":   {ahp.RunParams{Line: "a", Command: []string{"b"}}, "takes a line and nothing else"},
				"stdin":   {ahp.RunParams{Line: "a", Stdin: true}, "takes a line and nothing else"},
				"nowhere": {ahp.RunParams{Line: "a", Channel: "ahp-terminal:/none"}, ""},
			} {
				if c.p.Typed = true; c.p.Channel == "" {
					c.p.Channel = uri
				}
				if err := p.call(ahp.MethodRun, c.p, nil); err == nil || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%s: %v, want %q", what, err, c.why)
				}
			}
			p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"sh", "-c", "echo $((6*7)); exec sleep 100"}}, nil)
			if _, err := typed("echo no"); err == nil || !strings.Contains(err.Error(), `exec sleep 100'" is running`) {
				t.Errorf("while a command runs: %v", err)
			}
			p.output(uri, "42") // before, an interrupt is the shell's, which goes on to start it
			p.dispatch(uri, 1, ahp.TerminalInput{Data: "\x03"})
			p.ended(uri)
			if _, err := typed("echo yes"); err != nil && !strings.Contains(err.Error(), "does not wait") {
				t.Errorf("when it has ended: %v", err)
			}
		})
	}
}
