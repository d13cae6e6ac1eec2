package guard

import (
	"regexp"
	"strings"
	"sync"
)

// Typed is what was typed of a line that is not entered yet. It is a value; the zero one is
// an empty line.
type Typed struct{ line string }

// keysOf are what terminals send for keys: Enter by its number, all others, and the marks
// of a paste.
var (
	enterKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b(\[13(;\d*)?u|OM)`) })
	otherKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\[O])`) })
)

// Type gives the line after data was typed, and all that its Enters enter, a line each.
// What a shell's editor does otherwise, such as fetching an older line, is not seen.
func (t Typed) Type(data string) (next Typed, entered string) {
	data = otherKey().ReplaceAllString(enterKey().ReplaceAllString(data, "\r"), "")
	line := []rune(t.line)
	var lines []string
	for _, r := range data {
		switch r {
		case '\r', '\n':
			lines = append(lines, string(line))
			line = line[:0]
		case 0x7f, '\b':
			line = line[:max(0, len(line)-1)]
		case 3, 0x15: // ctrl+c, ctrl+u
			line = line[:0]
		default:
			if r >= ' ' || r == '\t' {
				line = append(line, r)
			}
		}
	}
	return Typed{string(line[:min(len(line), MaxLine)])}, strings.Join(lines, "\n")
}

// With is the whole line of which end was typed last.
func (t Typed) With(end string) string {
	if _, all := t.Type(end + "\r"); strings.HasSuffix(all, end) {
		return all
	}
	return end
}
