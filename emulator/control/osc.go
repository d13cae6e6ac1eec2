package control

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"tandemux/emulator"
)

// oscs maps an OSC's number to the function that executes it.
var oscs = map[int]func(s *System, body []byte, bell bool){
	0:   func(s *System, b []byte, _ bool) { s.SetTitle(b) },
	1:   func(*System, []byte, bool) {},
	2:   func(s *System, b []byte, _ bool) { s.SetTitle(b) },
	4:   func(s *System, b []byte, bell bool) { s.oscPalette(4, 0, b, bell) },
	5:   func(s *System, b []byte, bell bool) { s.oscPalette(5, specialColors, b, bell) },
	7:   func(s *System, b []byte, _ bool) { s.Cwd(b) },
	9:   (*System).oscNotify,
	21:  (*System).oscKeyed,
	52:  (*System).oscClipboard,
	99:  (*System).oscKittyNotify,
	104: func(s *System, b []byte, _ bool) { s.oscResetPalette(0, b) },
	105: func(s *System, b []byte, _ bool) { s.oscResetPalette(specialColors, b) },
	133: func(s *System, b []byte, _ bool) { s.passMark("133;", b) },
	633: func(s *System, b []byte, _ bool) { s.passMark("633;", b) },
	777: (*System).oscRxvt,

	7501: func(s *System, b []byte, _ bool) { s.passMark("7501;", b) },

	30001: func(s *System, _ []byte, _ bool) { s.PushColors(0) }, // kitty's
	30101: func(s *System, _ []byte, _ bool) { s.PopColors(0) },
}

func init() {
	for n := 10; n <= 19; n++ {
		oscs[n] = func(s *System, b []byte, bell bool) { s.oscDynamic(n, b, bell) }
		oscs[n+100] = func(s *System, _ []byte, _ bool) { s.setDynamic(n, 0) }
	}
}

// OSC executes an operating system command. For one that it does not know, and the engine may, it
// returns the number and the body; else the number is -1.
func (s *System) OSC(c Command) (number int, body []byte) {
	num, body, _ := bytes.Cut(c.Body, []byte{';'})
	n, err := strconv.ParseUint(string(num), 10, 16)
	if err != nil {
		return -1, nil
	}
	if do := oscs[int(n)]; do != nil {
		do(s, body, c.Bell)
		return -1, nil
	}
	return int(n), body
}

// Cwd reports the working directory (OSC 7).
func (s *System) Cwd(b []byte) {
	if dir := clean(b, maxURI); dir != "" {
		s.Event(emulator.EventCwd, "", dir)
	}
}

// passMark passes on marks of shells and programs (OSC 133, 633, 7501).
func (s *System) passMark(number string, body []byte) {
	if len(body) > 0 {
		s.Event(emulator.EventMark, "", number+string(body))
	}
}

// ParseLink takes the body of OSC 8 apart: params ; URI. An empty URI ends the link; ok is false for a
// malformed body.
func ParseLink(b []byte) (uri, id string, ok bool) {
	params, u, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return "", "", false
	}
	if uri = clean(u, maxURI+1); uri == "" || len(uri) > maxURI {
		return "", "", true
	}
	for p := range strings.SplitSeq(string(params), ":") {
		if v, ok := strings.CutPrefix(p, "id="); ok {
			id = clean([]byte(v), maxLinkID)
		}
	}
	return uri, id, true
}

// oscNotify is OSC 9: a notification, or ConEmu's 9;4 (progress) and 9;9
// (working directory).
func (s *System) oscNotify(b []byte, _ bool) {
	text := clean(b, maxText)
	switch {
	case strings.HasPrefix(text, "4;"):
		s.Event(emulator.EventProgress, "", text[2:])
	case strings.HasPrefix(text, "9;"):
		s.Cwd([]byte(strings.Trim(text[2:], `"`)))
	case text != "":
		s.Event(emulator.EventNotify, "", text)
	}
}

// notifyID matches an id of a notification that may be given back in an answer.
var notifyID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,64}$`) })

// oscKittyNotify is OSC 99: metadata ; payload. Only the payload's plain text is passed on. A query of
// what is supported (p=?) is answered with titles and bodies.
func (s *System) oscKittyNotify(b []byte, _ bool) {
	meta, payload, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	part, id := "title", "0"
	for _, kv := range strings.Split(string(meta), ":") {
		switch {
		case strings.HasPrefix(kv, "p="):
			part = kv[2:]
		case strings.HasPrefix(kv, "i="):
			id = kv[2:]
		case kv == "e=1":
			dec, err := base64.StdEncoding.DecodeString(string(payload))
			if err != nil {
				return
			}
			payload = dec
		}
	}
	switch text := clean(payload, maxText); {
	case part == "?":
		if notifyID().MatchString(id) {
			s.Reply("\x1b]99;i=" + id + ":p=?;p=title,body\x1b\\")
		}
	case text == "":
	case part == "title":
		s.Event(emulator.EventNotify, text, "")
	case part == "body":
		s.Event(emulator.EventNotify, "", text)
	}
}

// oscRxvt is OSC 777: notify ; title ; body.
func (s *System) oscRxvt(b []byte, _ bool) {
	parts := bytes.SplitN(b, []byte{';'}, 3)
	if len(parts) < 2 || string(parts[0]) != "notify" {
		return
	}
	var body string
	if len(parts) == 3 {
		body = clean(parts[2], maxText)
	}
	s.Event(emulator.EventNotify, clean(parts[1], maxText), body)
}

// oscClipboard is OSC 52: selection ; base64. It only sets; queries are not answered, since that would
// hand the user's clipboard to the child.
func (s *System) oscClipboard(b []byte, _ bool) {
	sel, data, ok := bytes.Cut(b, []byte{';'})
	if !ok || string(data) == "?" {
		return
	}
	enc := base64.StdEncoding
	if len(data)%4 != 0 {
		enc = base64.RawStdEncoding
	}
	text, err := enc.DecodeString(string(data))
	if err != nil || len(text) > emulator.MaxClipboard {
		return
	}
	s.Event(emulator.EventClipboard, clean(sel, 16), string(text))
}

// Pointers is the stack of shapes that a program gave the mouse pointer on a screen (OSC 22). The last
// is in force; with none it is the terminal's own.
type Pointers []string

const maxPointers = 16

// pointerNames maps the known names of shapes, those of CSS and some of xterm, to those of CSS.
var pointerNames = map[string]string{"left_ptr": "default", "hand1": "pointer", "hand2": "pointer", "watch": "wait", "xterm": "text"}

func init() {
	for name := range strings.FieldsSeq(`alias copy crosshair default e-resize ew-resize grab grabbing help move
		n-resize ne-resize nesw-resize no-drop not-allowed ns-resize nw-resize nwse-resize pointer progress
		s-resize se-resize sw-resize text vertical-text w-resize wait zoom-in zoom-out`) {
		pointerNames[name] = name
	}
}

// Top returns the CSS name of the shape in force.
func (p Pointers) Top() string {
	if len(p) == 0 {
		return ""
	}
	return p[len(p)-1]
}

// OSC executes OSC 22: it sets (=), pushes (>), pops (<) or queries (?) shapes.
func (p *Pointers) OSC(s *System, body []byte, bell bool) {
	how, names := byte('='), string(body)
	if len(names) > 0 && strings.IndexByte("=><?", names[0]) >= 0 {
		how, names = names[0], names[1:]
	}
	list := strings.SplitN(names, ",", maxPointers+1)
	list = list[:min(len(list), maxPointers)]
	switch how {
	case '?':
		s.Reply("\x1b]22;" + p.answer(list) + ending(bell))
	case '<':
		*p = (*p)[:max(0, len(*p)-1)]
	case '=':
		if shape, ok := pointerNames[names]; ok {
			*p = append((*p)[:max(0, len(*p)-1)], shape)
		} else if names == "" {
			*p = nil
		}
	default:
		for _, name := range list {
			if shape, ok := pointerNames[name]; ok {
				*p = append((*p)[max(0, len(*p)+1-maxPointers):], shape)
			}
		}
	}
}

// answer returns for each name whether it is a shape, or which shape it stands for.
func (p Pointers) answer(names []string) string {
	for i, name := range names {
		shape := "0"
		switch _, known := pointerNames[name]; {
		case name == "__current__" && len(p) > 0:
			shape = p.Top()
		case name == "__default__":
			shape = "text"
		case name == "__grabbed__":
			shape = "default"
		case known:
			shape = "1"
		}
		names[i] = shape
	}
	return strings.Join(names, ",")
}

// Append appends to a snapshot what fills the stack.
func (p Pointers) Append(buf []byte) []byte {
	for _, name := range p {
		buf = fmt.Appendf(buf, "\x1b]22;>%s\x1b\\", name)
	}
	return buf
}
