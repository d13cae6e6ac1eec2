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

// The colours that are answered until the child sets others.
var (
	defaultFG = emulator.RGB(0xe5, 0xe5, 0xe5)
	defaultBG = emulator.RGB(0, 0, 0)
)

// oscs are the OSC commands by number. body is what follows the first
// semicolon, end how the sequence was ended, for replies.
var oscs map[int]func(e *engine, body, end string)

func init() {
	oscs = map[int]func(e *engine, body, end string){
		0: func(e *engine, body, _ string) { e.setTitle(body) },
		2: func(e *engine, body, _ string) { e.setTitle(body) },
		4: (*engine).oscPalette,
		7: func(e *engine, body, _ string) { e.event(emulator.EventCwd, "", clean(body, maxURI)) },
		8: (*engine).oscLink,
		9: (*engine).oscNotify,
		10: func(e *engine, body, end string) {
			e.oscColors(body, end, 10)
		},
		11: func(e *engine, body, end string) {
			e.oscColors(body, end, 11)
		},
		12: func(e *engine, body, end string) {
			e.oscColors(body, end, 12)
		},
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
			e.reply(fmt.Sprintf("\x1b]4;%d;%s%s", index, spec(e.indexedColor(index)), end))
			continue
		}
		if c, ok := parseColor(parts[i+1]); ok {
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
		var at *emulator.Color
		outer, fallback := e.outer.FG, defaultFG
		switch n {
		case 10:
			at = &e.palette.FG
		case 11:
			at, outer, fallback = &e.palette.BG, e.outer.BG, defaultBG
		case 12:
			at, outer = &e.palette.Cursor, e.outer.Cursor
		default:
			return
		}
		if part == "?" {
			c := *at
			for _, next := range []emulator.Color{outer, fallback} {
				if c.IsDefault() {
					c = next
				}
			}
			e.reply(fmt.Sprintf("\x1b]%d;%s%s", n, spec(c), end))
		} else if c, ok := parseColor(part); ok {
			*at = c
			e.damage.all = true
		}
		n++
	}
}

// indexedColor gives what palette colour i is now.
func (e *engine) indexedColor(i uint8) emulator.Color {
	if c, ok := e.palette.Indexed[i]; ok {
		return c
	}
	if int(i) < len(e.outer.Indexed) && !e.outer.Indexed[i].IsDefault() {
		return e.outer.Indexed[i]
	}
	return emulator.RGB(emulator.PaletteRGB(i))
}

// spec is a colour as X has it, 16 bits a part.
func spec(c emulator.Color) string {
	r, g, b, _ := c.RGB()
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
}

// parseColor reads X's rgb:r/g/b with 1–4 digits a part, and #rgb in the same
// lengths. Names are not known.
func parseColor(s string) (emulator.Color, bool) {
	var parts []string
	if rest, ok := strings.CutPrefix(s, "rgb:"); ok {
		parts = strings.Split(rest, "/")
	} else if rest, ok := strings.CutPrefix(s, "#"); ok && len(rest)%3 == 0 {
		n := len(rest) / 3
		parts = []string{rest[:n], rest[n : 2*n], rest[2*n:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	var v [3]uint8
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		full := uint64(1)<<(4*len(p)) - 1
		if s[0] == '#' && len(p) == 1 {
			n, full = n<<4, 255 // X reads #rgb as the upper bits.
		}
		v[i] = uint8((n*255 + full/2) / full)
	}
	return emulator.RGB(v[0], v[1], v[2]), true
}
