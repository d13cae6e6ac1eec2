package home

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tandemux/internal/plaintext"
)

// maxPrinted bounds what is kept of what a check printed, in bytes: its end.
const maxPrinted = 16 << 10

// CheckError is a check that failed. It is a conflict.
type CheckError struct {
	Command string
	Why     string // "the check failed (exit code 2)"
	Printed string // the end of it, at most maxPrinted bytes
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%s, so nothing came home: `%s` must pass first, or --no-check goes past it", e.Why, clip(e.Command))
}

// StatusCode is the HTTP status that it is answered with.
func (e *CheckError) StatusCode() int { return http.StatusConflict }

// Output is what the check printed.
func (e *CheckError) Output() string { return e.Printed }

// Tail keeps the end of what is printed, whole lines.
type Tail struct {
	b    []byte
	most int
}

// NewTail makes one of at most maxPrinted bytes.
func NewTail() *Tail { return &Tail{most: maxPrinted} }

func (t *Tail) String() string { return string(t.b) }

// Why says why a command failed, with what it printed last.
func (t *Tail) Why(command string, err error) string {
	why := fmt.Sprintf("%v: `%s`", err, clip(command))
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		why += ": " + clip(last)
	}
	return why
}

func (t *Tail) Line(text string) {
	t.b = append(append(t.b, strings.ToValidUTF8(text, "\uFFFD")...), '\n')
	for len(t.b) > t.most {
		i := slices.Index(t.b, '\n')
		if i+1 >= len(t.b) { // one line, and too long
			i = len(t.b) - t.most - 1
		}
		t.b = t.b[i+1:]
	}
}

// clip bounds a command that is quoted.
func clip(s string) string { return plaintext.Clip(s, 200, "…") }
