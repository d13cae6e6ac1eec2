package prompt

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"tandemux/internal/approval"
	"tandemux/internal/cli"
)

// Asker puts an agent's question to a person line by line. What is longer than the
// terminal comes in parts, each after an Enter; the answers come after the last.
type Asker struct {
	out   io.Writer
	size  func() (w, h int) // of the terminal
	read  *approval.Reading
	shown int // rows that were printed
}

func Ask(out io.Writer, v approval.View) *Asker {
	a := &Asker{out: out, read: approval.NewReading(v), size: func() (w, h int) {
		if f, ok := cli.Raw(out).(*os.File); ok {
			if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
				return w, h
			}
		}
		return 80, 24
	}}
	a.show()
	return a
}

// show prints what comes next, and waits at the end of a line for the answer.
func (a *Asker) show() {
	w, h := a.size()
	w = max(w-3, 1) // less the indent, and the last column
	answers := a.answers(w)
	f := a.read.Lay(w, max(h-1, 2), len(answers))
	for _, r := range f.Rows[min(max(a.shown-f.From, 0), len(f.Rows)):] {
		fmt.Fprintln(a.out, "  "+r.Lead+strings.TrimRight(r.Text, " "))
	}
	a.shown = f.From + len(f.Rows)
	if !f.Options {
		fmt.Fprintf(a.out, "  %s, or %s: ", f.More(), a.keys(false))
		return
	}
	for _, l := range answers {
		fmt.Fprintln(a.out, "  "+l)
	}
	fmt.Fprintf(a.out, "  %s? ", a.keys(true))
}

// answers are the options in lines of w cells.
func (a *Asker) answers(w int) []string {
	var out []string
	for _, o := range a.read.Options {
		lead := o.Key + "  "
		for _, text := range approval.Wrap(o.Text(), w-len(lead), w-len(lead)) {
			out, lead = append(out, lead+text), "   "
		}
	}
	return out
}

// keys are those that can be typed now.
func (a *Asker) keys(all bool) string {
	var keys []string
	for _, o := range a.read.Options {
		if all && a.read.Can(o) == "" || !o.Allows {
			keys = append(keys, o.Key)
		}
	}
	return strings.Join(keys, ", ")
}

// Answer takes a line that was typed; ok is false while there is no answer, and the
// person has been asked again. An empty line answers nothing.
func (a *Asker) Answer(line string) (o approval.Option, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" && !a.read.Whole() {
		a.read.Page(1)
		a.show()
		return o, false
	}
	o, ok = a.read.Find(strings.ToLower(line))
	why := ""
	if ok {
		why = a.read.Can(o)
	}
	if !ok || why != "" {
		if why != "" {
			fmt.Fprintln(a.out, "  "+why)
		}
		fmt.Fprintf(a.out, "  %s? ", a.keys(a.read.Whole()))
		return o, false
	}
	return o, true
}
