package guard

import (
	"cmp"
	"slices"
	"strings"
)

// Pattern is text that must not be in a command.
type Pattern struct {
	Text string
	// Name is what a refusal calls it; empty: the text.
	Name string
	// Word wants the text to be bounded by what isn't part of a word.
	Word bool
	// Unless lists what may follow the text.
	Unless []string
	// Syntax says that its use is seen in the parsed line.
	Syntax bool
}

// harmless are the devices that swallow or show what is written to them.
var harmless = []string{"null", "stdout", "stderr", "tty", "fd/1", "fd/2"}

// defaultPatterns are T11's and P16's. "rm -rf /" stands for every absolute
// path, as in the documents. What "| sh" and "eval" are in the middle of a word
// is something else, and output may go where it does no harm.
var defaultPatterns = []Pattern{
	{Text: "rm -rf /", Syntax: true},
	{Text: "> /dev/", Unless: harmless, Syntax: true},
	{Text: ">/dev/", Name: "> /dev/", Unless: harmless, Syntax: true},
	{Text: "| sh", Word: true, Syntax: true},
	{Text: "|sh", Name: "| sh", Word: true, Syntax: true},
	{Text: "| bash", Word: true, Syntax: true},
	{Text: "|bash", Name: "| bash", Word: true, Syntax: true},
	{Text: "eval", Word: true, Syntax: true},
	{Text: "`", Syntax: true},
	{Text: "$(", Unless: []string{"("}, Syntax: true}, // arithmetic runs nothing
	{Text: "dd if=", Word: true, Syntax: true},
}

// name is what people call a pattern.
func (p Pattern) name() string {
	return cmp.Or(p.Name, p.Text)
}

// PatternNames are the names of the default patterns, each once.
func PatternNames() []string {
	var names []string
	for _, p := range defaultPatterns {
		if !slices.Contains(names, p.name()) {
			names = append(names, p.name())
		}
	}
	return names
}

// Patterns gives what names stand for: default patterns with all their
// spellings, and texts that are found wherever they are.
func Patterns(names []string) []Pattern {
	var list []Pattern
	for _, name := range names {
		known := false
		for _, p := range defaultPatterns {
			if p.name() == name {
				list, known = append(list, p), true
			}
		}
		if !known {
			list = append(list, Pattern{Text: name})
		}
	}
	return list
}

// pattern judges a text.
func (p Policy) pattern(text string) *Refusal {
	return p.found(text, func(pat Pattern) bool { return !p.Uses || !pat.Syntax })
}

// found judges a text by some of the patterns.
func (p Policy) found(text string, which func(Pattern) bool) *Refusal {
	for _, pat := range p.Patterns {
		if which(pat) && pat.in(text) {
			return &Refusal{Rule: RulePattern, What: pat.name()}
		}
	}
	return nil
}

func (p Policy) has(text string) bool {
	return slices.ContainsFunc(p.Patterns, func(pat Pattern) bool { return pat.Text == text })
}

func (p Pattern) in(text string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], p.Text)
		if i < 0 || p.Text == "" {
			return false
		}
		before, after := text[:at+i], text[at+i+len(p.Text):]
		at += i + len(p.Text)
		if p.Word && inWord(before, after, p.Text) {
			continue
		}
		if !slices.ContainsFunc(p.Unless, func(u string) bool { return follows(after, u) }) {
			return true
		}
	}
}

// inWord reports whether a text is a part of a longer word.
func inWord(before, after, text string) bool {
	return before != "" && wordByte(before[len(before)-1]) && wordByte(text[0]) || after != "" && wordByte(after[0]) && wordByte(text[len(text)-1])
}

func wordByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b == '/' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

// follows reports whether a text begins with one that ends there, unless it is
// punctuation.
func follows(text, what string) bool {
	rest, ok := strings.CutPrefix(text, what)
	return ok && (!wordByte(what[len(what)-1]) || rest == "" || !wordByte(rest[0]))
}
