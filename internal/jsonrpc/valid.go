package jsonrpc

import "encoding/json"

// maxRecursion is how deep valid goes by itself.
const maxRecursion = 1000

// valid is json.Valid for a text that is nested so deep at most, several times
// as fast where most of it is long strings, as in a terminal's state.
func valid(text []byte, deepest int) bool {
	if deepest > maxRecursion {
		return json.Valid(text)
	}
	at, ok := value(text, skipBlanks(text, 0))
	return ok && skipBlanks(text, at) == len(text)
}

// value reads a value; next is behind it.
func value(text []byte, at int) (next int, ok bool) {
	if at >= len(text) {
		return at, false
	}
	switch text[at] {
	case '{':
		return members(text, at, '}', member)
	case '[':
		return members(text, at, ']', value)
	case '"':
		return quoted(text, at)
	case 't':
		return word(text, at, "true")
	case 'f':
		return word(text, at, "false")
	case 'n':
		return word(text, at, "null")
	}
	return number(text, at)
}

// members reads an object or an array.
func members(text []byte, at int, end byte, one func([]byte, int) (int, bool)) (next int, ok bool) {
	at = skipBlanks(text, at+1)
	if at < len(text) && text[at] == end {
		return at + 1, true
	}
	for {
		if at, ok = one(text, at); !ok {
			return at, false
		}
		at = skipBlanks(text, at)
		switch {
		case at == len(text):
			return at, false
		case text[at] == end:
			return at + 1, true
		case text[at] != ',':
			return at, false
		}
		at = skipBlanks(text, at+1)
	}
}

// member reads a name and its value.
func member(text []byte, at int) (next int, ok bool) {
	if at >= len(text) || text[at] != '"' {
		return at, false
	}
	if at, ok = quoted(text, at); !ok {
		return at, false
	}
	at = skipBlanks(text, at)
	if at == len(text) || text[at] != ':' {
		return at, false
	}
	return value(text, skipBlanks(text, at+1))
}

// quoted reads a string, from its first quote on.
func quoted(text []byte, at int) (next int, ok bool) {
	for at++; ; {
		at = runEnd(text, at)
		if at == len(text) {
			return at, false
		}
		switch text[at] {
		case '"':
			return at + 1, true
		case '\\':
			n := escapeLen(text[at:])
			if n == 0 {
				return at, false
			}
			at += n
		default:
			return at, false // a bare control character
		}
	}
}

// runEnd is the index of the first quote, backslash or control character from
// at on, or the length.
func runEnd(text []byte, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at+8 <= len(text) {
		b := text[at : at+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, slash := x^'"'*ones, x^'\\'*ones
		if ((x-0x20*ones)&^x|(quote-ones)&^quote|(slash-ones)&^slash)&highs != 0 {
			break
		}
		at += 8
	}
	for at < len(text) && text[at] >= 0x20 && text[at] != '"' && text[at] != '\\' {
		at++
	}
	return at
}

// escapeLen is the length of the escape sequence at the start of b, 0 when it is
// malformed.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func word(text []byte, at int, want string) (next int, ok bool) {
	next = at + len(want)
	return next, next <= len(text) && string(text[at:next]) == want
}

func number(text []byte, at int) (next int, ok bool) {
	if text[at] == '-' {
		at++
	}
	from := at
	if at = digits(text, at); at == from || text[from] == '0' && at > from+1 {
		return at, false
	}
	if at < len(text) && text[at] == '.' {
		from = at + 1
		if at = digits(text, from); at == from {
			return at, false
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		from = at
		if at = digits(text, from); at == from {
			return at, false
		}
	}
	return at, true
}

func digits(text []byte, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	return at
}

// skipBlanks is the index of the first byte from at on that is no blank, or the
// length.
func skipBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
		at++
	}
	return at
}
