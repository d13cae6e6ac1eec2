package mcp

import (
	"cmp"
	"fmt"
	"strings"

	"tandemux/host/pool"
	"tandemux/internal/plaintext"
)

// outputBytes bounds a command's output in an answer that no bound was given for.
const outputBytes = 16 << 10

// sizes are how much of an output is wanted.
type sizes struct {
	Tail     int `json:"tail,omitempty" jsonschema:"only so many last lines"`
	MaxBytes int `json:"maxBytes,omitempty" jsonschema:"of output, up to 65536"`
}

func (z sizes) check() error {
	if z.Tail < 0 || z.MaxBytes < 0 || z.MaxBytes > pool.HistoryBytes {
		return fmt.Errorf("tail and maxBytes are not negative, and maxBytes is at most %d", pool.HistoryBytes)
	}
	return nil
}

// end is what is wanted of a text's end.
func (z sizes) end(text string, otherwise int) string {
	if z.Tail > 0 {
		from := len(strings.TrimSuffix(text, "\n"))
		for range z.Tail {
			from = strings.LastIndexByte(text[:max(from, 0)], '\n')
		}
		text = text[from+1:]
	}
	return plaintext.Tail(text, cmp.Or(z.MaxBytes, otherwise))
}

// shorten brings an output, of which omitted bytes between head and end are not kept, to what
// is wanted: its end where lines are; else a quarter of it the head, the rest the tail, with a
// line that says what is missing.
func (z sizes) shorten(head string, omitted int64, end string) (string, int64) {
	whole := int64(len(head)+len(end)) + omitted
	if omitted == 0 {
		head, end = head+end, head+end
	}
	if z.Tail > 0 {
		text := z.end(end, outputBytes)
		return text, whole - int64(len(text))
	}
	most := cmp.Or(z.MaxBytes, outputBytes)
	if omitted == 0 && len(head) <= most {
		return head, 0
	}
	head, end = plaintext.Head(head, most/4), plaintext.Tail(end, most-most/4)
	omitted = whole - int64(len(head)+len(end))
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, omitted, end), omitted
}
