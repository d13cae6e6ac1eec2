package terminals

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/shell"
)

// A terminal has a title, which says what runs in it (host/terminal). It may also have a name,
// which only clients set (people and agents, not programs in it). A name is unique on the host
// and addresses the terminal. AHP has only a title: that is the name, if there is one.

// maxName bounds a terminal's name, in bytes.
const maxName = 128

// title is the terminal's title in AHP.
func (t *Terminal) title() string { return cmp.Or(t.Meta.Name, t.auto) }

// retitle applies the title if it has changed.
func (t *Terminal) retitle(tx core.Tx) {
	if now := t.title(); now != t.Value.Title {
		tx.Apply(t.ch, ahp.TerminalTitleChanged{Title: now}, nil)
	}
}

// checkName says what is wrong with a name, "" for nothing.
func checkName(s string) string {
	switch {
	case len(s) > maxName:
		return fmt.Sprintf("it is longer than %d bytes", maxName)
	case shown(s) != s:
		return "it has control characters or others that don't show in it"
	case strings.TrimSpace(s) != s:
		return "it begins or ends with a blank"
	}
	return ""
}

// cleanName makes a valid name of any text.
func cleanName(s string) string {
	return strings.TrimSpace(shown(strings.ToValidUTF8(s[:min(len(s), maxName)], "")))
}

// shown is a text without invisible characters. It keeps the joiner between two emoji.
func shown(s string) string {
	rs := []rune(s)
	var b strings.Builder
	for i, r := range rs {
		joins := r == 0x200d && i > 0 && i+1 < len(rs) && unicode.In(rs[i-1], unicode.So, unicode.Sk, unicode.Mn) && unicode.Is(unicode.So, rs[i+1])
		if joins || unicode.IsGraphic(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// nameTaken says why p can't give the terminal at uri, which may not exist yet, a name; "" if it
// can.
func (ts *Terminals) nameTaken(tx core.Tx, p *auth.Principal, name string, uri ahp.URI) string {
	if name == "" {
		return ""
	}
	for making, its := range ts.reserved {
		if its == name && making != uri {
			return fmt.Sprintf("another terminal that is being made has the name %q: choose another", name)
		}
	}
	for _, t := range ts.all {
		id := shortID(t.ch.URI)
		switch {
		case t.ch.URI == uri:
		case !Reaches(tx, p, t.ch.URI):
			if t.Meta.Name == name {
				return fmt.Sprintf("another terminal has the name %q: choose another", name)
			}
		case t.Meta.Name == name:
			return fmt.Sprintf("terminal %s has the name %q: choose another, or take it away with `tandemux rename %s ''`", id, name, id)
		case id == name || t.ch.URI == name:
			return fmt.Sprintf("%q is the id of another terminal: choose another name", name)
		case !p.Human && strings.HasPrefix(id, name):
			// People type prefixes of ids, which this name would shadow.
			return fmt.Sprintf("%q begins the id of terminal %s: choose another name", name, id)
		}
	}
	return ""
}

// freeName is name, with a number appended if the name is taken.
func (ts *Terminals) freeName(tx core.Tx, p *auth.Principal, name string, uri ahp.URI) string {
	name = cleanName(name)
	free := name
	for n := 2; ts.nameTaken(tx, p, free, uri) != ""; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

// rename handles terminal/titleChanged by a client (R18): it sets the name, or removes it if the
// title is empty.
func rename(tx core.Tx, t *Terminal, d *requests.Dispatch) string {
	if s := t.Held().May(d.Conn.Principal, "change it"); s != "" {
		return s
	}
	name := d.Action.(ahp.TerminalTitleChanged).Title
	if s := checkName(name); s != "" {
		return "the name is not usable: " + s
	}
	if s := t.ts.nameTaken(tx, d.Conn.Principal, name, d.Channel.URI); s != "" {
		return s
	}
	t.Flush(tx)
	t.Meta.Name, t.dirty = name, true
	tx.Apply(d.Channel, ahp.TerminalTitleChanged{Title: t.title()}, d.By)
	return ""
}

// commandTitle is the title of a terminal that was started with a command.
func commandTitle(argv []string) string {
	base := filepath.Base(argv[0])
	if len(argv) > 2 && argv[1] == "-c" && strings.HasSuffix(base, "sh") {
		base = cmp.Or(shell.Program(argv[2]), base)
	}
	return params.CleanTitle(base)
}

// shortID is the last part of a terminal's URI.
func shortID(uri ahp.URI) string { return uri[strings.LastIndexAny(uri, "/:")+1:] }
