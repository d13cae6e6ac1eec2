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
