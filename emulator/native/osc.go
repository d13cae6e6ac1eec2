package native

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"tandemux/emulator"
)

// Bounds of what OSC carries, in bytes.
const (
	maxTitle     = 4096
	maxTitles    = 16 // the title stack
	maxText      = 4096
	maxURI       = 4096
	maxLinkID    = 256
	maxEvents    = 4096
	maxEventSize = 16 << 20
)

// oscTable maps an OSC's number to what it does with its body.
var oscTable = map[int]func(e *Engine, body []byte, bell bool){
	0:    func(e *Engine, b []byte, _ bool) { e.setTitle(clean(b, maxTitle)) },
	1:    func(*Engine, []byte, bool) {},
	2:    func(e *Engine, b []byte, _ bool) { e.setTitle(clean(b, maxTitle)) },
	4:    (*Engine).oscPalette,
	5:    (*Engine).oscSpecial,
	105:  (*Engine).oscResetSpecial,
	7:    func(e *Engine, b []byte, _ bool) { e.cwd(b) },
	8:    (*Engine).oscLink,
	9:    (*Engine).oscNotify,
	10:   func(e *Engine, b []byte, bell bool) { e.oscDynamic(10, b, bell) },
	11:   func(e *Engine, b []byte, bell bool) { e.oscDynamic(11, b, bell) },
	12:   func(e *Engine, b []byte, bell bool) { e.oscDynamic(12, b, bell) },
	52:   (*Engine).oscClipboard,
	99:   (*Engine).oscKittyNotify,
	104:  (*Engine).oscResetPalette,
	110:  func(e *Engine, _ []byte, _ bool) { e.setDynamic(10, 0) },
	111:  func(e *Engine, _ []byte, _ bool) { e.setDynamic(11, 0) },
	112:  func(e *Engine, _ []byte, _ bool) { e.setDynamic(12, 0) },
	133:  func(e *Engine, b []byte, _ bool) { e.passMark("133;", b) },
	633:  func(e *Engine, b []byte, _ bool) { e.passMark("633;", b) },
	777:  (*Engine).oscRxvt,
	1337: (*Engine).oscITerm,
	7501: func(e *Engine, b []byte, _ bool) { e.passMark("7501;", b) },
}

// osc executes an operating system command.
func (e *Engine) osc(s []byte, bell bool) {
	num, body, _ := bytes.Cut(s, []byte{';'})
	n, err := strconv.ParseUint(string(num), 10, 16)
	do := oscTable[int(n)]
	if err != nil || do == nil {
		e.unhandled++
		return
	}
	do(e, body, bell)
}

// event hands something to the caller. Over the bound new events are dropped:
// whoever doesn't take them has had enough.
func (e *Engine) event(kind emulator.EventKind, name, text string) {
	if len(e.events) >= maxEvents || e.eventSize+len(name)+len(text) > maxEventSize {
		return
	}
	e.eventSize += len(name) + len(text)
	e.events = append(e.events, emulator.Event{Kind: kind, Name: name, Text: text})
}

// Events implements emulator.Emulator.
func (e *Engine) Events() []emulator.Event {
	if len(e.events) == 0 {
		return nil
	}
	out := e.events
	e.events, e.eventSize = nil, 0
	return out
}

// clean gives b as text: valid UTF-8 without C0, C1 and DEL, at most limit
// bytes.
func clean(b []byte, limit int) string {
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 {
			continue
		}
		if out.Len()+n > limit {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

func (e *Engine) setTitle(s string) {
	e.title = s
	e.event(emulator.EventTitle, "", s)
}

func (e *Engine) cwd(b []byte) {
	if s := clean(b, maxURI); s != "" {
		e.event(emulator.EventCwd, "", s)
	}
}

// passMark passes what a shell or program says of itself on (OSC 133, 633,
// 7501).
func (e *Engine) passMark(number string, body []byte) {
	if len(body) > 0 {
		e.event(emulator.EventMark, "", number+string(body))
	}
}

// oscLink is OSC 8: params ; URI. An empty URI ends the link.
func (e *Engine) oscLink(b []byte, _ bool) {
	params, uri, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	e.link = nil
	u := clean(uri, maxURI+1)
	if u != "" && len(u) <= maxURI {
		var id string
		for _, p := range strings.Split(string(params), ":") {
			if v, ok := strings.CutPrefix(p, "id="); ok {
				id = clean([]byte(v), maxLinkID)
			}
		}
		e.link = e.links.intern([]byte(u), []byte(id))
	}
	e.penChanged()
}

// oscNotify is OSC 9: a notification, or ConEmu's 9;4 (progress) and 9;9
// (working directory).
func (e *Engine) oscNotify(b []byte, _ bool) {
	s := clean(b, maxText)
	switch {
	case strings.HasPrefix(s, "4;"):
		e.event(emulator.EventProgress, "", s[2:])
	case strings.HasPrefix(s, "9;"):
		e.cwd([]byte(strings.Trim(s[2:], `"`)))
	case s != "":
		e.event(emulator.EventNotify, "", s)
	}
}

// notifyID is what may name a notification; it is given back to who asks.
var notifyID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,64}$`) })

// oscKittyNotify is OSC 99: metadata ; payload. Only the payload's plain text
// is passed on. Who asks what there is (p=?) is told of titles and bodies.
func (e *Engine) oscKittyNotify(b []byte, _ bool) {
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
	switch s := clean(payload, maxText); {
	case part == "?":
		if notifyID().MatchString(id) {
			e.reply("\x1b]99;i=" + id + ":p=?;p=title,body\x1b\\")
		}
	case s == "":
	case part == "title":
		e.event(emulator.EventNotify, s, "")
	case part == "body":
		e.event(emulator.EventNotify, "", s)
	}
}

// oscRxvt is OSC 777: notify ; title ; body.
func (e *Engine) oscRxvt(b []byte, _ bool) {
	parts := bytes.SplitN(b, []byte{';'}, 3)
	if len(parts) < 2 || string(parts[0]) != "notify" {
		return
	}
	var body string
	if len(parts) == 3 {
		body = clean(parts[2], maxText)
	}
	e.event(emulator.EventNotify, clean(parts[1], maxText), body)
}

// oscClipboard is OSC 52: selection ; base64. Only setting is done; asking is
// not answered, since it would hand the user's clipboard to the child.
func (e *Engine) oscClipboard(b []byte, _ bool) {
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
	e.event(emulator.EventClipboard, clean(sel, 16), string(text))
}
