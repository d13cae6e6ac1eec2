package ahp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// Instant is a point in time as sessions and chats write it: ISO 8601 in UTC
// with milliseconds, such as "2026-11-21T01:00:00.000Z". Empty means unknown.
// Reading accepts any offset, and Unix milliseconds as 0.5 has them.
type Instant string

// InstantOf is the instant of Unix milliseconds.
func InstantOf(ms int64) Instant {
	return Instant(time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z"))
}

// Ms is the instant in Unix milliseconds; ok is false when it is not a date.
func (i Instant) Ms() (ms int64, ok bool) {
	t, err := time.Parse(time.RFC3339, strings.ToUpper(string(i)))
	if err != nil {
		return 0, false
	}
	return t.UnixMilli(), true
}

// add is the instant some milliseconds later; negative ones count as none.
func (i Instant) add(ms int64) Instant {
	at, ok := i.Ms()
	if !ok {
		return i
	}
	return InstantOf(at + max(0, min(ms, 1<<50)))
}

// UnmarshalJSON accepts a string or Unix milliseconds.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(i))
	}
	var ms *float64
	*i = ""
	if err := json.Unmarshal(b, &ms); err != nil || ms == nil {
		return err
	}
	if math.Abs(*ms) > 1<<53 {
		return strconv.ErrRange
	}
	*i = InstantOf(int64(math.Round(*ms)))
	return nil
}
