package vt10x

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// Bounds of what an OSC sets.
const (
	maxURI    = 4096
	maxLinkID = 256
	maxNotify = 4096
	maxMark   = 4096
)

// oscs are the OSC commands by number. body is what follows the first
// semicolon, end how the sequence was ended, for replies.
var oscs map[int]func(e *engine, body, end string)

func init() {
	oscs = map[int]func(e *engine, body, end string){
		0:   func(e *engine, body, _ string) { e.setTitle(body) },
		2:   func(e *engine, body, _ string) { e.setTitle(body) },
		4:   (*engine).oscPalette,
		7:   func(e *engine, body, _ string) { e.event(emulator.EventCwd, "", clean(body, maxURI)) },
		8:   (*engine).oscLink,
		9:   (*engine).oscNotify,
		10:  func(e *engine, body, end string) { e.oscColors(body, end, 10) },
		11:  func(e *engine, body, end string) { e.oscColors(body, end, 11) },
		12:  func(e *engine, body, end string) { e.oscColors(body, end, 12) },
		52:  (*engine).oscClipboard,
		104: (*engine).oscResetPalette,
		110: func(e *engine, _, _ string) { e.palette.FG = 0; e.damage.all = true },
		111: func(e *engine, _, _ string) { e.palette.BG = 0; e.damage.all = true },
		112: func(e *engine, _, _ string) { e.palette.Cursor = 0 },
		777: (*engine).oscNotify777,
	}
	for _, n := range []int{133, 633, 7501} {
		number := strconv.Itoa(n) + ";"
		oscs[n] = func(e *engine, body, _ string) {
			e.event(emulator.EventMark, "", number+clean(body, maxMark))
		}
	}
}

// osc runs an OSC.
func (e *engine) osc(text, end string) {
	num, body, _ := strings.Cut(text, ";")
	if len(num) == 0 || len(num) > 4 {
		return
	}
	n, err := strconv.Atoi(num)
	if err != nil || n < 0 {
		return
	}
	if fn := oscs[n]; fn != nil {
		fn(e, body, end)
	}
}

// oscLink is OSC 8: parameters, then the URI, both possibly empty.
func (e *engine) oscLink(body, _ string) {
	params, uri, ok := strings.Cut(body, ";")
	if !ok {
		return
	}
	pen := e.pen
	pen.Link, pen.LinkID = "", ""
	if uri != "" && len(uri) <= maxURI && uri == clean(uri, maxURI) {
		pen.Link = uri
		for p := range strings.SplitSeq(params, ":") {
			if id, ok := strings.CutPrefix(p, "id="); ok && id == clean(id, maxLinkID) {
				pen.LinkID = id
			}
		}
	}
	e.setPen(pen)
}

// oscNotify is OSC 9: ConEmu's progress, else a notification.
func (e *engine) oscNotify(body, _ string) {
	if p, ok := strings.CutPrefix(body, "4;"); ok {
		e.event(emulator.EventProgress, "", clean(p, 64))
		return
	}
	if cmd, _, _ := strings.Cut(body, ";"); len(cmd) <= 2 {
		if _, err := strconv.Atoi(cmd); err == nil {
			return // Another of ConEmu's commands.
		}
	}
	e.event(emulator.EventNotify, "", clean(body, maxNotify))
}

func (e *engine) oscNotify777(body, _ string) {
	rest, ok := strings.CutPrefix(body, "notify;")
	if !ok {
		return
	}
	title, text, _ := strings.Cut(rest, ";")
	e.event(emulator.EventNotify, clean(title, maxNotify), clean(text, maxNotify))
}

// oscClipboard is OSC 52. Reading is never answered.
func (e *engine) oscClipboard(body, _ string) {
	which, data, ok := strings.Cut(body, ";")
	if !ok || data == "?" {
		return
	}
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		if text, err = base64.RawStdEncoding.DecodeString(data); err != nil {
			return
		}
	}
	which = strings.Map(func(r rune) rune {
		if strings.ContainsRune("cpqs01234567", r) {
			return r
		}
		return -1
	}, which)
	if which == "" {
		which = "c"
	}
	e.event(emulator.EventClipboard, clean(which, 16), string(text))
}

// oscPalette is OSC 4: pairs of an index and a colour or a question.
func (e *engine) oscPalette(body, end string) {
	parts := strings.Split(body, ";")
	for i := 0; i+1 < len(parts) && i < 512; i += 2 {
		n, err := strconv.ParseUint(parts[i], 10, 8)
		if err != nil {
			continue
		}
		index := uint8(n)
		if parts[i+1] == "?" {
			e.reply(fmt.Sprintf("\x1b]4;%d;%s%s", index, spec(e.palette.At(index, e.outer)), end))
			continue
		}
		if c, ok := emulator.ParseColor(parts[i+1]); ok {
			indexed := map[uint8]emulator.Color{index: c}
			for k, v := range e.palette.Indexed {
				if k != index {
					indexed[k] = v
				}
			}
			e.palette.Indexed = indexed
			e.damage.all = true
		}
	}
}

func (e *engine) oscResetPalette(body, _ string) {
	e.damage.all = true
	if body == "" {
		e.palette.Indexed = nil
		return
	}
	indexed := map[uint8]emulator.Color{}
	for k, v := range e.palette.Indexed {
		indexed[k] = v
	}
	for part := range strings.SplitSeq(body, ";") {
		if n, err := strconv.ParseUint(part, 10, 8); err == nil {
			delete(indexed, uint8(n))
		}
	}
	e.palette.Indexed = indexed
	if len(indexed) == 0 {
		e.palette.Indexed = nil
	}
}

// oscColors is OSC 10, 11 and 12; further colours in one sequence are those of
// the next numbers.
func (e *engine) oscColors(body, end string, n int) {
	for part := range strings.SplitSeq(body, ";") {
		if n > 12 {
			return
		}
		if part == "?" {
			e.reply(fmt.Sprintf("\x1b]%d;%s%s", n, spec(e.palette.Dynamic(n, e.outer)), end))
		} else if c, ok := emulator.ParseColor(part); ok {
			*[]*emulator.Color{&e.palette.FG, &e.palette.BG, &e.palette.Cursor}[n-10] = c
			e.damage.all = true
		}
		n++
	}
}

// spec is a colour as X has it, 16 bits a part.
func spec(c emulator.Color) string {
	r, g, b, _ := c.RGB()
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
}
