package tty

import "strings"

// Notifier is how a terminal is asked to show a notification.
type Notifier string

// The notifiers. Where a Caps has to decide, it goes by what the terminal calls
// itself.
const (
	NotifyAuto Notifier = "auto" // and ""
	NotifyOff  Notifier = "off"
	Notify9    Notifier = "osc9"   // text alone
	Notify99   Notifier = "osc99"  // kitty's
	Notify777  Notifier = "osc777" // rxvt's
)

// notifiers are the terminals that are known to have one, by the beginning of
// their name (XTVERSION), lower case.
var notifiers = []struct {
	name string
	by   Notifier
}{
	{"kitty", Notify99},
	{"foot", Notify777},
	{"ghostty", Notify777},
	{"wezterm", Notify777},
	{"contour", Notify777},
	{"iterm2", Notify9},
	{"rio", Notify777},
	{"tandemux", Notify777},
	{"warp", Notify777},
	{"windows terminal", Notify777},
}

func notifierOf(name string) Notifier {
	for _, n := range notifiers {
		if strings.HasPrefix(name, n.name) {
			return n.by
		}
	}
	return NotifyOff
}

// maxNotify bounds what is forwarded of each text, in bytes.
const maxNotify = 400

// Notify gives what shows a notification; "" where the terminal has none. The
// texts must have no control characters.
func (c *Caps) Notify(by Notifier, title, body string) string {
	if by == NotifyAuto || by == "" {
		by = c.Notifier
	}
	cut := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxNotify)], "") }
	title, body = cut(title), cut(body)
	const st = "\x1b\\"
	switch by {
	case Notify9:
		return "\x1b]9;" + title + ": " + body + st
	case Notify99:
		return "\x1b]99;i=tandemux:d=0;" + title + st + "\x1b]99;i=tandemux:p=body;" + body + st
	case Notify777:
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + st
	}
	return ""
}
