package native

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// maxCaps bounds the capabilities asked for in one XTGETTCAP.
const maxCaps = 64

// ControlString implements control.Handler.
func (e *Engine) ControlString(c control.Command) {
	e.intervene()
	switch c.Kind {
	case ']':
		e.osc(c)
	case 'P':
		e.dcs(c.Body)
	case '_':
		e.apc(c.Body)
	}
	if e.doubled {
		fit(e)
	}
}

// osc executes an operating system command: here those that concern the grid, the others
// in control.System.
func (e *Engine) osc(c control.Command) {
	switch n, body := e.sys.OSC(c); n {
	case 8:
		if uri, id, ok := control.ParseLink(body); ok {
			e.link = nil
			if uri != "" {
				e.link = internLink(&e.links, uri, id)
			}
			e.penChanged()
		}
	case 22:
		e.scr.pointers.OSC(&e.sys, body, c.Bell)
	case 66:
		printSized(e, body)
	case 1337:
		e.oscITerm(body)
	}
	repaint(e)
}

// repaint marks everything as damaged if a colour of the palette changed.
func repaint(e *Engine) {
	e.damageAll = e.damageAll || e.sys.Repaint
	e.sys.Repaint = false
}

// dcs executes a device control string.
func (e *Engine) dcs(body []byte) {
	ps := &e.parser
	if ps.Bad || ps.Prefix != 0 {
		return
	}
	switch string(ps.Inter[:ps.NInter]) + string(ps.Final) {
	case "$q":
		e.requestSetting(string(body))
	case "$t":
		restorePresentation(e, string(body))
	case "+q":
		e.requestCaps(string(body))
	case "q":
		e.sixelImage(body)
	}
}

// apc executes an application program command: kitty's graphics protocol, and a
// snapshot's commands about pictures.
func (e *Engine) apc(body []byte) {
	switch {
	case len(body) > 0 && body[0] == 'G':
		e.graphics(body[1:])
	case bytes.HasPrefix(body, []byte(savedPicture)):
		e.restorePicture(body[len(savedPicture):])
	}
}

// settings are the answers to DECRQSS.
var settings = map[string]func(*Engine) string{
	"m":   func(e *Engine) string { return emulator.StyleReport(e.cur.pen) + "m" },
	"r":   func(e *Engine) string { return fmt.Sprintf("%d;%dr", e.top+1, e.bot+1) },
	"s":   func(e *Engine) string { return fmt.Sprintf("%d;%ds", e.left+1, e.right+1) },
	"t":   func(e *Engine) string { return fmt.Sprintf("%dt", e.rows) },
	"$|":  func(e *Engine) string { return fmt.Sprintf("%d$|", e.cols) },
	"*|":  func(e *Engine) string { return fmt.Sprintf("%d*|", e.rows) },
	" q":  func(e *Engine) string { return fmt.Sprintf("%d q", max(1, e.modes.Shape)) },
	"\"p": func(e *Engine) string { return fmt.Sprintf("6%d;%d\"p", e.level, e.sys.Seven()) },
	"*x":  func(e *Engine) string { return fmt.Sprintf("%d*x", e.extent) },
	"$}":  func(*Engine) string { return "0$}" }, // no status line
	"$~":  func(*Engine) string { return "0$~" },
	"\"q": func(e *Engine) string {
		if e.cur.pen.Attrs&emulator.Protected != 0 {
			return "1\"q"
		}
		return "0\"q"
	},
}

// requestSetting is DECRQSS.
func (e *Engine) requestSetting(what string) {
	if get, ok := settings[what]; ok {
		e.sys.Reply("\x1bP1$r" + get(e) + "\x1b\\")
	} else {
		e.sys.Reply("\x1bP0$r\x1b\\")
	}
}

// caps are the answers to XTGETTCAP: of the terminfo entry xterm-256color, with its
// escapes resolved (\E is the byte 0x1b), and of other entries' extensions that this
// engine supports. A boolean capability has no value. Programs use these answers whatever
// their own terminfo says.
var caps = map[string]string{
	"TN":      "xterm-256color",
	"name":    "xterm-256color",
	"Co":      "256",
	"colors":  "256",
	"RGB":     "8", // bits of each component, as in xterm
	"Tc":      "",
	"Su":      "",
	"XT":      "",
	"AX":      "",
	"am":      "",
	"bce":     "",
	"Smulx":   "\x1b[4:%p1%dm",
	"Setulc":  "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m",
	"Smol":    "\x1b[53m",
	"Rmol":    "\x1b[55m",
	"Ss":      "\x1b[%p1%d q",
	"Se":      "\x1b[2 q",
	"Ms":      "\x1b]52;%p1%s;%p2%s\a",
	"Sync":    "\x1b[?2026%?%p1%{1}%-%tl%eh%;",
	"BE":      "\x1b[?2004h",
	"BD":      "\x1b[?2004l",
	"PS":      "\x1b[200~",
	"PE":      "\x1b[201~",
	"fe":      "\x1b[?1004h",
	"fd":      "\x1b[?1004l",
	"E3":      "\x1b[3J",
	"rep":     "%p1%c\x1b[%p2%{1}%-%db",
	"setrgbf": "\x1b[38:2:%p1%d:%p2%d:%p3%dm",
	"setrgbb": "\x1b[48:2:%p1%d:%p2%d:%p3%dm",
	"smxx":    "\x1b[9m",
	"rmxx":    "\x1b[29m",
	"sitm":    "\x1b[3m",
	"ritm":    "\x1b[23m",
	"kbs":     "\x7f",
}

// cursorKeys maps the termcap and terminfo names of the keys that DECCKM changes to the
// final bytes of what they send.
var cursorKeys = map[string]string{
	"ku": "A", "kcuu1": "A",
	"kd": "B", "kcud1": "B",
	"kr": "C", "kcuf1": "C",
	"kl": "D", "kcub1": "D",
	"kh": "H", "khome": "H",
	"@7": "F", "kend": "F",
}

// capability returns the answer to XTGETTCAP for a name. For a key, it is what the key
// sends in the current mode, as in xterm.
func (e *Engine) capability(name string) (value string, ok bool) {
	switch name {
	case "lines", "li":
		return strconv.Itoa(e.rows), true
	case "cols", "co":
		return strconv.Itoa(e.cols), true
	}
	if key, ok := cursorKeys[name]; ok {
		if e.modes.Has(control.AppCursor) {
			return "\x1bO" + key, true
		}
		return "\x1b[" + key, true
	}
	value, ok = caps[name]
	return value, ok
}

// requestCaps is XTGETTCAP: names in hexadecimal, each answered by itself. An answer
// repeats the name, encoded anew, only if it was valid hexadecimal.
func (e *Engine) requestCaps(body string) {
	for i, h := range strings.Split(body, ";") {
		name, err := hex.DecodeString(h)
		if err != nil || len(name) == 0 || len(name) > 64 || i == maxCaps {
			e.sys.Reply("\x1bP0+r\x1b\\")
			return
		}
		key := strings.ToUpper(hex.EncodeToString(name))
		value, ok := e.capability(string(name))
		switch {
		case !ok:
			e.sys.Reply("\x1bP0+r" + key + "\x1b\\")
		case value == "":
			e.sys.Reply("\x1bP1+r" + key + "\x1b\\")
		default:
			e.sys.Reply("\x1bP1+r" + key + "=" + strings.ToUpper(hex.EncodeToString([]byte(value))) + "\x1b\\")
		}
	}
}
