package control

import (
	"bytes"
	"strconv"
)

// maxSized bounds the text of one OSC 66, in bytes.
const maxSized = 4096

// ParseSized takes OSC 66 apart: key=value:… ; text. scale is 1 to 7, width 0 (that of
// the text) to 7; ok is false for a malformed one. What says how large text is drawn in
// its cells (n, d, v, h) is left out.
func ParseSized(b []byte) (scale, width int, text string, ok bool) {
	meta, t, ok := bytes.Cut(b, []byte{';'})
	if !ok || len(t) > maxSized {
		return 0, 0, "", false
	}
	scale = 1
	for field := range bytes.SplitSeq(meta, []byte{':'}) {
		key, value, _ := bytes.Cut(field, []byte{'='})
		n, err := strconv.ParseUint(string(value), 10, 8)
		switch {
		case len(field) == 0, string(key) != "s" && string(key) != "w":
		case err != nil || n > 7 || n == 0 && key[0] == 's':
			return 0, 0, "", false
		case key[0] == 's':
			scale = int(n)
		default:
			width = int(n)
		}
	}
	return scale, width, clean(t, maxSized), true
}
