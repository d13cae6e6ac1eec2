package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape undoes VS Code's escaping in one pass: \\ and \xHH, where HH is a
// byte; any other backslash stands for itself. A second pass would take "\\x41"
// for an A.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\\' {
				i++
			} else if c, ok := hexByte(s[i+1:]); ok {
				b.WriteByte(c)
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hexByte reads xHH at the start of s.
func hexByte(s string) (byte, bool) {
	if len(s) < 3 || s[0] != 'x' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	return byte(n), err == nil
}

// unquote undoes printf %q of bash and zsh: backslashes, '…' and $'…'. It
// reports false for what no %q makes.
func unquote(s string) (string, bool) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, "$'"):
			n, ok := ansiQuoted(&b, rest[2:])
			if !ok {
				return "", false
			}
			i += 2 + n
		case rest[0] == '\'':
			end := strings.IndexByte(rest[1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(rest[1 : 1+end])
			i += end + 2
		case rest[0] == '\\':
			if len(rest) < 2 {
				return "", false
			}
			b.WriteByte(rest[1])
			i += 2
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String(), true
}

// escapes are the single characters after a backslash in $'…'.
var escapes = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiQuoted appends the text of a $'…' of which s is all after the opening
// quote, and returns how much of s that takes, with the closing quote.
func ansiQuoted(b *strings.Builder, s string) (int, bool) {
	for i := 0; i < len(s); {
		if s[i] == '\'' {
			return i + 1, true
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		if plain, ok := escapes[c]; ok {
			b.WriteByte(plain)
			i += 2
			continue
		}
		base, from, most := 8, i+1, 3
		switch c {
		case 'x':
			base, from, most = 16, i+2, 2
		case 'u':
			base, from, most = 16, i+2, 4
		case 'U':
			base, from, most = 16, i+2, 8
		}
		n, digits := number(s[from:], base, most)
		if digits == 0 {
			return 0, false
		}
		if c == 'u' || c == 'U' {
			b.WriteString(string(utf8.AppendRune(nil, rune(n))))
		} else {
			b.WriteByte(byte(n))
		}
		i = from + digits
	}
	return 0, false
}

// number reads at most most digits at the start of s, and returns how many
// there are.
func number(s string, base, most int) (n, digits int) {
	for digits < most && digits < len(s) {
		d, err := strconv.ParseUint(s[digits:digits+1], base, 8)
		if err != nil {
			break
		}
		n = n*base + int(d)
		digits++
	}
	return n, digits
}

// Quote writes an argument vector as a line that a shell splits into the
// same again, without control characters: they would be keys to its line
// editor. Words of plain characters stay as they are, so that aliases and
// builtins work. What it uses means the same in bash, zsh, fish and POSIX
// shells; only control characters need the shell's own way.
func Quote(argv []string, shell string) string {
	control := `$'\x%02x'`
	if shell == "fish" {
		control = `\x%02x`
	}
	var b strings.Builder
	if shell == "fish" && len(argv) > 0 && slices.Contains(opening, argv[0]) {
		b.WriteString("command ") // Quotes don't make it a plain word there.
	}
	for i, word := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		quoteWord(&b, word, i == 0, control)
	}
	return b.String()
}

// plainChars are special to no shell, wherever they stand in a word but at its
// start.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-"

// opening are the words by which bash, zsh or fish begin what one line need not
// end: unquoted, the shell would wait for the rest at its secondary prompt.
var opening = []string{
	"begin", "case", "coproc", "for", "foreach", "function", "if", "repeat", "select", "switch", "until", "while",
}

func quoteWord(b *strings.Builder, word string, first bool, control string) {
	strange := func(r rune) bool { return !strings.ContainsRune(plainChars, r) }
	switch {
	case word == "":
		b.WriteString("''")
		return
	case slices.Contains(opening, word), strings.ContainsFunc(word, strange), strings.ContainsRune("=%", rune(word[0])), first && strings.Contains(word, "="):
	default:
		b.WriteString(word)
		return
	}
	open := false
	quoted := func(want bool) {
		if open != want {
			b.WriteByte('\'')
			open = want
		}
	}
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\'' || c == '\\': // Inside quotes fish takes them otherwise.
			quoted(false)
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			quoted(false)
			fmt.Fprintf(b, control, c)
		default:
			quoted(true)
			b.WriteByte(c)
		}
	}
	quoted(false)
}
