package native

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"cotty/emulator"
)

// maxCaps bounds the capabilities asked for in one XTGETTCAP.
const maxCaps = 64

// dcs executes a device control string.
func (e *Engine) dcs(body []byte) {
	ps := &e.parser
	if ps.bad || ps.prefix != 0 {
		e.unhandled++
		return
	}
	switch string(ps.inter[:ps.ninter]) + string(ps.final) {
	case "$q":
		e.requestSetting(string(body))
	case "$t":
		e.restorePresentation(body)
	case "+q":
		e.requestCaps(string(body))
	case "q":
		e.sixelImage(body)
	default:
		e.unhandled++
	}
}

// apc executes an application program command: kitty's graphics, and what a
// snapshot says of pictures.
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
	" q":  func(e *Engine) string { return fmt.Sprintf("%d q", max(1, e.shape)) },
	"\"p": func(e *Engine) string { return fmt.Sprintf("6%d;1\"p", e.level) },
	"*x":  func(e *Engine) string { return fmt.Sprintf("%d*x", e.extent) },
	"$}":  func(*Engine) string { return "0$}" }, // No status line.
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
		e.reply("\x1bP1$r" + get(e) + "\x1b\\")
	} else {
		e.reply("\x1bP0$r\x1b\\")
	}
}

// caps are the terminfo capabilities that XTGETTCAP knows, as xterm-256color
// has them and beyond.
var caps = map[string]string{
	"TN":      "xterm-256color",
	"name":    "xterm-256color",
	"Co":      "256",
	"colors":  "256",
	"RGB":     "8/8/8",
	"Tc":      "",
	"Su":      "",
	"XT":      "",
	"AX":      "",
	"am":      "",
	"bce":     "",
	"Smulx":   `\E[4:%p1%dm`,
	"Setulc":  `\E[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m`,
	"Smol":    `\E[53m`,
	"Rmol":    `\E[55m`,
	"Ss":      `\E[%p1%d q`,
	"Se":      `\E[2 q`,
	"Ms":      `\E]52;%p1%s;%p2%s\007`,
	"Sync":    `\E[?2026%?%p1%{1}%-%tl%eh%;`,
	"BE":      `\E[?2004h`,
	"BD":      `\E[?2004l`,
	"PS":      `\E[200~`,
	"PE":      `\E[201~`,
	"fe":      `\E[?1004h`,
	"fd":      `\E[?1004l`,
	"E3":      `\E[3J`,
	"rep":     `%p1%c\E[%p2%{1}%-%db`,
	"setrgbf": `\E[38:2:%p1%d:%p2%d:%p3%dm`,
	"setrgbb": `\E[48:2:%p1%d:%p2%d:%p3%dm`,
	"smxx":    `\E[9m`,
	"rmxx":    `\E[29m`,
	"sitm":    `\E[3m`,
	"ritm":    `\E[23m`,
	"kbs":     "\x7f",
	"ku":      "\x1bOA",
	"kd":      "\x1bOB",
	"kr":      "\x1bOC",
	"kl":      "\x1bOD",
	"kcuu1":   "\x1bOA",
	"kcud1":   "\x1bOB",
	"kcuf1":   "\x1bOC",
	"kcub1":   "\x1bOD",
	"khome":   "\x1bOH",
	"kend":    "\x1bOF",
}

// requestCaps is XTGETTCAP: names in hexadecimal, each answered on its own. A
// name is only given back where it was valid hexadecimal, spelled anew.
func (e *Engine) requestCaps(body string) {
	for i, h := range strings.Split(body, ";") {
		name, err := hex.DecodeString(h)
		if err != nil || len(name) == 0 || len(name) > 64 || i == maxCaps {
			e.reply("\x1bP0+r\x1b\\")
			return
		}
		key := strings.ToUpper(hex.EncodeToString(name))
		switch value, ok := caps[string(name)]; {
		case string(name) == "lines" || string(name) == "li":
			e.replyCap(key, strconv.Itoa(e.rows))
		case string(name) == "cols" || string(name) == "co":
			e.replyCap(key, strconv.Itoa(e.cols))
		case !ok:
			e.reply("\x1bP0+r" + key + "\x1b\\")
		default:
			e.replyCap(key, value)
		}
	}
}

func (e *Engine) replyCap(key, value string) {
	if value != "" {
		value = "=" + strings.ToUpper(hex.EncodeToString([]byte(value)))
	}
	e.reply("\x1bP1+r" + key + value + "\x1b\\")
}
