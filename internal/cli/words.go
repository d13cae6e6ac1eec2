package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"tandemux/emulator"
)

// Count says how many there are of something whose plural ends in s.
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// Plural says how many there are of something.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Minutes is how a moment is told, to the minute.
const Minutes = "2006-01-02 15:04"

// Moment is a time for people, in their time zone.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format(Minutes)
}

// Millis is Moment of milliseconds since 1970; 0 is never.
func Millis(ms int64) string {
	if ms == 0 {
		return Moment(time.Time{})
	}
	return Moment(time.UnixMilli(ms))
}

// Age is how long ago something was, in a word.
func Age(at time.Time) string {
	d := time.Since(at)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}

// Duration reads a duration, also in days (7d) and weeks (2w).
func Duration(s string) (time.Duration, bool) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, found := strings.CutSuffix(s, unit); found {
			if count, err := strconv.Atoi(n); err == nil && count > 0 && count < 100_000 {
				return time.Duration(count) * length, true
			}
		}
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// Date reads a date or a moment, in a time zone.
func Date(s string, zone *time.Location) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", Minutes, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Expiry reads when something ends: a time from now, or a date.
func Expiry(s string, now time.Time) (time.Time, error) {
	end, ok := Date(s, now.Location())
	if !ok {
		var d time.Duration
		d, ok = Duration(s)
		end = now.Add(d)
	}
	switch {
	case !ok:
		return time.Time{}, errors.New("use a time from now such as 30m, 8h or 7d, or a date such as 2026-12-01")
	case !end.After(now):
		return end, errors.New("that is over")
	}
	return end, nil
}

// Past reads a date or a moment, or how long ago it was.
func Past(s string, now time.Time) (time.Time, error) {
	if d, ok := Duration(s); ok && d >= 0 {
		return now.Add(-d), nil
	}
	if t, ok := Date(s, now.Location()); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("use how long ago, such as 30m, 8h or 7d, or a time such as 2026-12-01")
}

// Size reads COLSxROWS.
func Size(s string) (cols, rows int, err error) {
	c, r, ok := strings.Cut(strings.ToLower(s), "x")
	if ok {
		cols, err = strconv.Atoi(c)
	}
	if ok && err == nil {
		rows, err = strconv.Atoi(r)
	}
	if !ok || err != nil || cols < 1 || rows < 1 || cols > emulator.MaxCols || rows > emulator.MaxRows {
		return 0, 0, Usagef("%q is no size; write columns x rows, such as 120x40, up to %dx%d", s, emulator.MaxCols, emulator.MaxRows)
	}
	return cols, rows, nil
}

// Text is a text that is given in words, or, for none or "-", read from in. Without
// words and with a terminal to read from, ask is the usage error.
func Text(words []string, in io.Reader, ask string) (string, error) {
	const most = 1 << 20
	text := strings.Join(words, " ")
	if len(words) == 0 || len(words) == 1 && words[0] == "-" {
		if f, ok := in.(*os.File); ok && len(words) == 0 && term.IsTerminal(int(f.Fd())) {
			return "", Usagef("%s Give a text, or - to read it from standard input", ask)
		}
		b, err := io.ReadAll(io.LimitReader(in, most+1))
		if err != nil {
			return "", fmt.Errorf("read the text: %w", err)
		}
		text = string(b)
	}
	switch {
	case len(text) > most:
		return "", Usagef("the text has more than %d bytes", most)
	case strings.TrimSpace(text) == "":
		return "", Usagef("the text is empty")
	}
	return strings.ToValidUTF8(text, "\uFFFD"), nil
}
