package ahp

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Instant is a point in time as sessions and chats write it: ISO 8601 in UTC
// with milliseconds, such as "2026-11-21T01:00:00.000Z". Empty means unknown.
// Reading accepts any offset, and Unix milliseconds as 0.5 has them.
type Instant string

// InstantOf is the instant of Unix milliseconds.
func InstantOf(ms int64) Instant {
	const day = 86_400_000
	days, rest := ms/day, ms%day
	if rest < 0 {
		days, rest = days-1, rest+day
	}
	y, m, d := civil(days)
	return Instant(fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
		y, m, d, rest/3_600_000, rest/60_000%60, rest/1000%60, rest%1000))
}

// Ms is the instant in Unix milliseconds; ok is false when it is not a date.
func (i Instant) Ms() (ms int64, ok bool) {
	s := string(i)
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	var n [6]int64
	for k, at := range [...][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		v, err := strconv.ParseUint(s[at[0]:at[1]], 10, 32)
		if err != nil {
			return 0, false
		}
		n[k] = int64(v)
	}
	if n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 || n[3] > 24 || n[4] > 59 || n[5] > 60 {
		return 0, false
	}
	fraction, zone := int64(0), s[19:]
	if zone[0] == '.' {
		scale := int64(100)
		for zone = zone[1:]; zone != "" && zone[0] >= '0' && zone[0] <= '9'; zone = zone[1:] {
			fraction += int64(zone[0]-'0') * scale
			scale /= 10
		}
	}
	offset, ok := zoneMinutes(zone)
	if !ok {
		return 0, false
	}
	minutes := (daysSince1970(n[0], n[1], n[2])*24+n[3])*60 + n[4] - offset
	return (minutes*60+n[5])*1000 + fraction, true
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
	var n *number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*i = ""
	if n != nil {
		*i = InstantOf(int64(*n))
	}
	return nil
}

func zoneMinutes(z string) (minutes int64, ok bool) {
	if z == "Z" || z == "z" {
		return 0, true
	}
	if len(z) != len("+00:00") || z[0] != '+' && z[0] != '-' || z[3] != ':' {
		return 0, false
	}
	h, errH := strconv.ParseUint(z[1:3], 10, 8)
	m, errM := strconv.ParseUint(z[4:6], 10, 8)
	if errH != nil || errM != nil || h > 23 || m > 59 {
		return 0, false
	}
	minutes = int64(h*60 + m)
	if z[0] == '-' {
		minutes = -minutes
	}
	return minutes, true
}

// daysSince1970 and civil convert between days and the Gregorian calendar; their
// year begins in March, so that the leap day is its last.
func daysSince1970(y, m, d int64) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	dayOfYear := (153*((m+9)%12)+2)/5 + d - 1
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719_468
}

func civil(days int64) (y, m, d int64) {
	days += 719_468
	era := floorDiv(days, 146_097)
	dayOfEra := days - era*146_097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	y, m, d = yearOfEra+era*400, shifted+3, dayOfYear-(153*shifted+2)/5+1
	if m > 12 {
		y, m = y+1, m-12
	}
	return y, m, d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
