package words

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tandemux/internal/plaintext"
)

// Clean removes control characters, including line ends, from a text of somebody else.
func Clean(s string) string { return plaintext.Clean(s, "") }

// Lines is Clean for a text of several lines. A tab becomes four blanks.
func Lines(s string) string {
	return plaintext.Clean(strings.ReplaceAll(s, "\t", "    "), "\n")
}

// Line joins the lines of a text with blanks.
func Line(s string) string {
	var lines []string
	for l := range strings.Lines(Lines(strings.ReplaceAll(s, "\t", " "))) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, " ")
}

// Shorten replaces the home directory at the beginning of a path by "~".
func Shorten(dir, home string) string {
	if home == "" || home == "/" {
		return dir
	}
	if dir == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(dir, home+"/"); ok {
		return "~/" + rest
	}
	return dir
}

// Plural returns a count of things with their English name.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Count writes a number in few characters.
func Count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Counted returns the size of a text, in lines or characters.
func Counted(text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if lines > 1 {
		return Plural(lines, "line")
	}
	return Plural(utf8.RuneCountInString(strings.TrimSuffix(text, "\n")), "character")
}

// Lasted writes a duration in at most two units.
func Lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Lasting writes a duration that continues, in whole seconds if it is short.
func Lasting(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return Lasted(d)
}

// Ago says roughly how long ago something was.
func Ago(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh ago", int(d.Hours()))
}

// Rested says roughly how long ago something changed.
func Rested(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(?:https?|ftp|file)://|mailto:)[^\s<>"` + "`" + `{}|\\^\x00-\x1f]+`)
})

// Addresses returns the ranges of a text that look like URLs, without the punctuation at the end
// of a sentence and closing brackets that the URL doesn't open.
func Addresses(text []byte) [][]int {
	found := address().FindAllIndex(text, -1)
	for _, m := range found {
		for ; m[1] > m[0]; m[1]-- {
			s := text[m[0]:m[1]]
			last := s[len(s)-1]
			if bytes.IndexByte([]byte(".,;:!?'*"), last) < 0 &&
				(last != ')' || bytes.Count(s, []byte("(")) >= bytes.Count(s, []byte(")"))) &&
				(last != ']' || bytes.Count(s, []byte("[")) >= bytes.Count(s, []byte("]"))) {
				break
			}
		}
	}
	return found
}
