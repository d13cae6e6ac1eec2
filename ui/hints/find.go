package hints

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandemux/ui/words"
)

// Kind is the kind of a match.
type Kind uint8

// The kinds. If matches overlap, the earlier kind is used.
const (
	URL Kind = iota
	Path
	IP
	Hash
	Number
)

// Match is a half-open range of a text's bytes.
type Match struct {
	From, To int
	Kind     Kind
}

var (
	// word is a text between blanks, quotes, brackets and the like.
	word = late("[^\\s\"'`()\\[\\]{}<>|=,;*\x00-\x1f\u2500-\u259f\u2026]+")
	// file is a name with an extension, perhaps with a line and a column.
	file = late(`^[\pL\pN_.+@%-]*[\pL\pN_][\pL\pN_+@%-]*\.[a-zA-Z][a-zA-Z0-9]{0,7}(:\d+){0,2}$`)
	// place splits a path from the line and column after it.
	place = late(`^(.+?)(?::(\d+))?(?::(\d+))?$`)
	ipv4  = late(`^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5}|/\d{1,2})?$`)
	ipv6  = late(`^[0-9a-fA-F:]+(?:%[\w.]+)?(?:/\d{1,3})?$`)
	hash  = late(`\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|sha256:[0-9a-f]{64}|[0-9a-f]{64}|[0-9a-f]{7,40})\b`)
	// number has at least four digits: shorter numbers are rarely copied.
	number = late(`\b(?:0x[0-9a-fA-F]+|\d{4,})\b`)
)

// late compiles a pattern when it is first used, as every process of tandemux has this package.
func late(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// maxText is how much of a text is searched, in bytes.
const maxText = 64 << 10

// Find returns the matches in text, in order and without overlap.
func Find(text []byte) []Match {
	text = text[:min(len(text), maxText)]
	var all []Match
	add := func(from, to int, k Kind) { all = append(all, Match{from, to, k}) }
	for _, m := range words.Addresses(text) {
		if m[1] > m[0] {
			add(m[0], m[1], URL)
		}
	}
	for _, m := range parts(text) {
		from, to := m[0], m[1]
		if head := text[:from]; len(head) == 4 && (string(head) == "--- " || string(head) == "+++ ") && to-from > 2 && text[from+1] == '/' {
			from += 2 // the prefix of file names in diffs
		}
		to = from + len(bytes.TrimRight(text[from:to], ".:!?#$%"))
		if k, ok := kindOf(string(text[from:to])); ok {
			add(from, to, k)
		}
	}
	for _, m := range hash().FindAllIndex(text, -1) {
		if bytes.ContainsAny(text[m[0]:m[1]], "0123456789") && bytes.ContainsAny(text[m[0]:m[1]], "abcdef") {
			add(m[0], m[1], Hash)
		}
	}
	for _, m := range number().FindAllIndex(text, -1) {
		if m[0] < 2 || text[m[0]-1] != '.' || text[m[0]-2] < '0' || text[m[0]-2] > '9' { // it is no fraction
			add(m[0], m[1], Number)
		}
	}
	// Of overlapping matches keep the first kind, and of one kind the first match.
	slices.SortStableFunc(all, func(a, b Match) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From)) })
	taken := make([]bool, len(text))
	kept := all[:0]
	for _, m := range all {
		if slices.Contains(taken[m.From:m.To], true) {
			continue
		}
		for i := m.From; i < m.To; i++ {
			taken[i] = true
		}
		kept = append(kept, m)
	}
	slices.SortFunc(kept, func(a, b Match) int { return cmp.Compare(a.From, b.From) })
	return kept
}

// parts returns the words of a text. A word is split before a path after a colon, as after a
// host's name or in a list of directories.
func parts(text []byte) (all [][]int) {
	for _, m := range word().FindAllIndex(text, -1) {
		for i := m[0]; i+1 < m[1]; i++ {
			if text[i] == ':' && (text[i+1] == '/' || text[i+1] == '~') && !bytes.HasPrefix(text[i+1:], []byte("//")) {
				all = append(all, []int{m[0], i})
				m[0] = i + 1
			}
		}
		all = append(all, m)
	}
	return all
}

// kindOf returns the kind of a word, if it is one of these.
func kindOf(w string) (Kind, bool) {
	colons := strings.Count(w, ":")
	switch {
	case ipv4().MatchString(w):
		return IP, true
	case ipv6().MatchString(w) && (strings.Contains(w, "::") || colons == 7) && strings.ContainsAny(w, "0123456789abcdefABCDEF"):
		return IP, true
	case strings.Contains(w, "://") || strings.HasPrefix(w, "//"):
		return 0, false // a URL of another scheme, or a comment
	case strings.Contains(w, "/") && strings.ContainsFunc(w, func(r rune) bool { return r != '/' && r != '.' && r != '-' }):
		return Path, true
	case w == "~", w == "..", strings.HasPrefix(w, "../"):
		return 0, false
	case file().MatchString(w):
		return Path, true
	}
	return 0, false
}

// Split separates a path from the line number after it; 0 means none.
func Split(path string) (name string, line int) {
	m := place().FindStringSubmatch(path)
	if m == nil {
		return path, 0
	}
	for _, d := range m[2] {
		line = min(line*10+int(d-'0'), 1<<30)
	}
	return m[1], line
}

// letters is the letters of labels, the easiest to reach first.
const letters = "asdfghjklqwertyuiopzxcvbnm"

// MaxLabels is the largest number of labels.
const MaxLabels = len(letters) * len(letters)

// Labels returns n labels, at most MaxLabels: single letters if there are enough, else some of
// two letters. No label is a prefix of another.
func Labels(n int) []string {
	n = min(n, MaxLabels)
	two := 0 // number of letters that begin labels of two letters
	for len(letters)-two+two*len(letters) < n {
		two++
	}
	var all []string
	for _, r := range letters[:len(letters)-two] {
		all = append(all, string(r))
	}
	for _, first := range letters[len(letters)-two:] {
		for _, second := range letters {
			all = append(all, string(first)+string(second))
		}
	}
	return all[:n]
}
