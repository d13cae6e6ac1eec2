package ahp

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// ReadSubscribeResult is json.Unmarshal for a text that is known to be JSON, as
// the answers that package jsonrpc hands on are: a snapshot of a full terminal is
// a megabyte, which is looked through once instead of four times. The result
// shares memory with raw.
func ReadSubscribeResult(raw json.RawMessage) (r SubscribeResult, err error) {
	if s, ok := readSnapshot(raw); ok {
		return SubscribeResult{Snapshot: &s}, nil
	}
	err = json.Unmarshal(raw, &r)
	return r, err
}

// readSnapshot reads exactly the form that Encode writes.
func readSnapshot(raw []byte) (s Snapshot, ok bool) {
	c := cursor{rest: raw}
	c.skip(`{"snapshot":{"resource":`)
	s.Resource = c.str()
	c.skip(`,"state":`)
	state := scan{text: c.rest}
	s.State = state.value()
	c.rest = c.rest[state.at:]
	c.skip(`,"fromSeq":`)
	s.FromSeq = c.int()
	return s, c.ends(`}}`) && s.State != nil
}

// takeContent takes the parts out of a terminal's state: rest is the state
// without them. ok is false when there is anything unusual about them, which the
// general decoder then deals with.
func takeContent(state []byte) (parts []Part, rest []byte, ok bool) {
	s := scan{text: state}
	taken := 0
	rest, ok = s.split(func(name string) (bool, bool) {
		if name != "content" {
			return false, true
		}
		taken++
		parts, ok = s.parts()
		return true, ok
	})
	return parts, rest, ok && taken == 1
}

// parts reads a list of parts.
func (s *scan) parts() (parts []Part, ok bool) {
	if s.peek() != '[' {
		return nil, false
	}
	parts = []Part{}
	ok = s.each(']', func() bool {
		var texts [2]string // value, output
		var had [2]bool
		rest, ok := s.split(func(name string) (bool, bool) {
			i := slices.Index([]string{"value", "output"}, name)
			if i < 0 {
				return false, true
			}
			again := had[i]
			had[i] = true
			text, ok := s.quoted()
			texts[i] = text
			return true, ok && !again
		})
		var p Part
		if !ok || json.Unmarshal(rest, &p) != nil {
			return false
		}
		p.Value, p.Output = texts[0], texts[1]
		parts = append(parts, p)
		return true
	})
	return parts, ok
}

// split reads an object and gives it without the members that take has taken.
// take is called behind a member's name; it reads the value if it takes it.
func (s *scan) split(take func(name string) (taken, ok bool)) (rest []byte, ok bool) {
	if s.peek() != '{' {
		return nil, false
	}
	rest = append(rest, '{')
	ok = s.each('}', func() bool {
		name := s.key()
		if name == nil || slices.Contains(name, '\\') {
			return false
		}
		if taken, ok := take(string(name[1 : len(name)-1])); taken || !ok {
			return ok
		}
		value := s.value()
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name...), ':'), value...)
		return value != nil
	})
	return append(rest, '}'), ok
}

// quoted reads a string.
func (s *scan) quoted() (text string, ok bool) {
	if s.peek() != '"' {
		return "", false
	}
	from := s.at + 1
	if !s.string() {
		return "", false
	}
	out, end, ok := unquoteTo(nil, s.text[from:s.at])
	if !ok || end != s.at-from || !utf8.Valid(out) {
		return "", false
	}
	return string(out), true
}
