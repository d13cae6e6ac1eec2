package home

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tandemux/internal/plaintext"
)

// maxPrinted bounds what is kept of a check's output, in bytes: the end of it.
const maxPrinted = 16 << 10

// CheckError says that a check failed. Over HTTP it is a conflict.
type CheckError struct {
	Command string
	Why     string // "the check failed (exit code 2)"
	Printed string // the end of its output, at most maxPrinted bytes
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%s, so nothing came home: `%s` must pass first, or --no-check goes past it", e.Why, clip(e.Command))
}

// StatusCode returns the HTTP status of the error.
func (e *CheckError) StatusCode() int { return http.StatusConflict }

// Output returns the end of what the check printed.
func (e *CheckError) Output() string { return e.Printed }

// Tail keeps the last lines of an output.
type Tail struct {
	b    []byte
	most int
}

// NewTail returns a Tail of at most maxPrinted bytes.
func NewTail() *Tail { return &Tail{most: maxPrinted} }

func (t *Tail) String() string { return string(t.b) }

// Why returns why a command failed, with the last line that it printed.
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
		if i+1 >= len(t.b) { // a single line that is too long
			i = len(t.b) - t.most - 1
		}
		t.b = t.b[i+1:]
	}
}

// clip shortens a command that is quoted.
func clip(s string) string { return plaintext.Clip(s, 200, "…") }
