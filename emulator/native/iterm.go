package native

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// oscITerm is OSC 1337, of which the working directory and images in the text count.
func (e *Engine) oscITerm(b []byte) {
	if dir, ok := bytes.CutPrefix(b, []byte("CurrentDir=")); ok {
		e.sys.Cwd(dir)
	}
	if file, ok := bytes.CutPrefix(b, []byte("File=")); ok {
		e.inlineFile(file)
	}
}

// inlineFile shows iTerm2's image in the text: keys, a colon, base64. A PNG is a
// picture, anything else a box, since nothing is decoded here.
func (e *Engine) inlineFile(file []byte) {
	keys, data, ok := bytes.Cut(file, []byte{':'})
	args := map[string]string{}
	for pair := range strings.SplitSeq(string(keys), ";") {
		k, v, _ := strings.Cut(pair, "=")
		args[k] = v
	}
	if !ok || args["inline"] != "1" {
		return
	}
	raw, err := base64.RawStdEncoding.AppendDecode(nil, bytes.TrimRight(data, "="))
	if err != nil || len(raw) > maxImageBytes {
		return
	}
	cols, rows := itermSize(args["width"], e.cols, cellWidth), itermSize(args["height"], e.rows, cellHeight)
	im := &emulator.Image{Format: 100, Data: raw}
	if im.Width, im.Height = pngSize(im); !sanePixels(im.Width, im.Height) {
		e.imageBox(cols, max(rows, 1), 0, 0)
		return
	}
	e.keep(&graphic{action: 'T', cols: uint32(cols), rows: uint32(rows)}, im)
}

// itermSize reads a size: cells, pixels ("40px"), a part of the screen ("50%"), or
// as the image has it, which is zero.
func itermSize(s string, screen, cell int) int {
	number := strings.TrimRight(s, "px%")
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || n > maxImageSide {
		return 0
	}
	switch s[len(number):] {
	case "":
		return n
	case "px":
		return (n + cell - 1) / cell
	case "%":
		return max(screen*min(n, 100)/100, 1)
	}
	return 0
}
