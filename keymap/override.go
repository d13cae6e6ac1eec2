package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problem is a fault in a user's bindings, in words for the user.
type Problem struct {
	Mode Mode
	Keys string // as the user wrote them
	Text string
	Warn bool // the binding is in force all the same
}

// maxUser bounds the number of bindings that a user may have in a mode.
const maxUser = 1000

// Override gives the table with the user's bindings: from chord to
// "command [arguments]", or "" to unbind. The word "prefix" stands for the
// prefix key, an argument with blanks goes between quotes. check, if not nil,
// says what is wrong with a command and its arguments (ui/command.Check).
// Faulty rows are left out and reported; warnings are reported only. Problems
// come in the order of the keys' spelling.
func (t Table) Override(m Mode, user map[string]string, check func(name string, args []string) error) (Table, []Problem) {
	if len(user) == 0 {
		return t, nil
	}
	o := overriding{table: t, mode: m, check: check, sources: slices.Clone(t.sources)}
	spelled := slices.Sorted(maps.Keys(user))
	if len(spelled) > maxUser {
		o.problem(spelled[maxUser], false, "at most %d bindings are read; this one and those after it are left out", maxUser)
		spelled = spelled[:maxUser]
	}
	for _, keys := range spelled {
		o.row(keys, user[keys])
	}
	return compile(t.Name, t.prefix, o.sources), o.problems
}

// overriding is the state of one call of Override.
type overriding struct {
	table    Table
	mode     Mode
	check    func(name string, args []string) error
	sources  []Binding
	problems []Problem
	taken    []taken
}

// taken is a row of the user's that was accepted.
type taken struct {
	keys    string
	binding Binding
}

func (o *overriding) problem(keys string, warn bool, format string, args ...any) {
	o.problems = append(o.problems, Problem{Mode: o.mode, Keys: keys, Warn: warn, Text: fmt.Sprintf(format, args...)})
}

// row takes in one of the user's rows.
func (o *overriding) row(keys, line string) {
	chord, err := parseSource(keys)
	if err != nil {
		o.problem(keys, false, "%v", err)
		return
	}
	s := Binding{Mode: o.mode, Chord: chord, User: true}
	b := s.bound(o.table.prefix)
	for _, other := range o.taken {
		if conflict(&b, &other.binding) {
			o.problem(keys, false, "conflicts with %q, which is bound too", other.keys)
			return
		}
	}
	if words, err := Words(line); err != nil {
		o.problem(keys, false, "%v", err)
		return
	} else if len(words) > 0 {
		s.Command, s.Args = words[0], words[1:]
	}
	if s.Command == "" {
		o.unbind(keys, b)
		o.taken = append(o.taken, taken{keys, b})
		return
	}
	if o.check != nil {
		if err := o.check(s.Command, s.Args); err != nil {
			o.problem(keys, false, "%v", err)
			return
		}
	}
	if !o.reachable(keys, b) {
		return
	}
	// What the preset repeats is repeated by other keys too.
	s.Repeat = slices.ContainsFunc(o.table.sources, func(old Binding) bool { return old.Repeat && old.Command == s.Command })
	o.displace(keys, b)
	o.sources = append(o.sources, s)
	o.taken = append(o.taken, taken{keys, b})
}

// unbind takes the rows with that chord out.
func (o *overriding) unbind(keys string, b Binding) {
	before := len(o.sources)
	o.sources = slices.DeleteFunc(o.sources, func(s Binding) bool { return s.Mode == o.mode && s.bound(o.table.prefix).Keys == b.Keys })
	if len(o.sources) == before {
		o.problem(keys, true, "was not bound, so there is nothing to unbind")
	}
}

// displace takes out what the new row stands in the way of. The same chord is
// what the user asked for and is not worth a word.
func (o *overriding) displace(keys string, b Binding) {
	o.sources = slices.DeleteFunc(o.sources, func(old Binding) bool {
		was := old.bound(o.table.prefix)
		if !conflict(&was, &b) {
			return false
		}
		if was.Keys != b.Keys {
			o.problem(keys, true, "stands in the way of %q (%s), which is no longer bound", was.Keys, was.Command)
		}
		return true
	})
}

// reachable says whether the keys can be typed and may be taken from programs.
func (o *overriding) reachable(keys string, b Binding) bool {
	first := b.Chord[0]
	switch {
	case o.mode != Normal && first == o.table.prefix:
		o.problem(keys, false, "the prefix key %s does in %s mode what it always does", first, o.mode)
		return false
	case o.mode == Chat && first.Types() != "":
		o.problem(keys, false, "%s is text of a message", first)
		return false
	case len(b.Chord) == 1 && first == o.table.prefix:
		o.problem(keys, false, "is the prefix key, which can't be a command too")
		return false
	case o.mode == Normal && first != o.table.prefix:
		if why := keeps(first); why != "" {
			o.problem(keys, false, "%s; put the word prefix before it", why)
			return false
		}
	}
	for _, k := range b.Chord {
		as, ok := k.Legacy()
		if !ok {
			o.problem(keys, true, "only terminals with the kitty keyboard protocol report %s", k)
		} else if as != k {
			o.problem(keys, true, "without the kitty keyboard protocol %s arrives as %s", k, as)
		}
	}
	return true
}

// keeps says why a key must reach programs, "" when it may be bound.
func keeps(k Key) string {
	switch {
	case k.Types() != "":
		return fmt.Sprintf("%s is typed text, and programs would no longer get it", k)
	case k.Mod&^Shift == 0 && (k.Code == Enter || k.Code == Esc || k.Code == Tab || k.Code == Backspace || k.Code == Space):
		return fmt.Sprintf("%s always goes to the program", k)
	default:
		return ""
	}
}

// CheckPrefix says why a key is a bad prefix; nil when it will do.
func CheckPrefix(k Key) error {
	if k == (Key{}) {
		return fmt.Errorf("the prefix key is missing")
	}
	if why := keeps(k); why != "" {
		return fmt.Errorf("%s; choose a key with ctrl or alt", why)
	}
	if as, ok := k.Legacy(); ok {
		if why := keeps(as); why != "" {
			return fmt.Errorf("without the kitty keyboard protocol %s arrives as %s; choose another key", k, as)
		}
	}
	return nil
}

// parseSource reads a chord in which the word "prefix" stands for the prefix.
func parseSource(keys string) (Chord, error) {
	words := strings.Fields(keys)
	if len(words) == 0 {
		return nil, fmt.Errorf("a key is missing")
	}
	if len(words) > MaxChord {
		return nil, fmt.Errorf("%d keys in a row are too many; at most %d", len(words), MaxChord)
	}
	c := make(Chord, len(words))
	for i, w := range words {
		if strings.EqualFold(w, "prefix") {
			c[i] = prefixKey
			continue
		}
		k, err := Parse(w)
		if err != nil {
			return nil, err
		}
		c[i] = k
	}
	return c, nil
}

// maxLine bounds a command with its arguments in bytes.
const maxLine = 1024

// Words splits a command line at blanks; single or double quotes keep them. Within
// double quotes \" is a quote and \\ a backslash, as for sh.
func Words(line string) ([]string, error) {
	if len(line) > maxLine {
		return nil, fmt.Errorf("the command is longer than %d bytes", maxLine)
	}
	var words []string
	var word strings.Builder
	quote, in := rune(0), false
	escaped := false
	for i, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quote == '"' && r == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
