package cli

import (
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]string{
		"8h": "2026-11-20T20:00:00Z", "30m": "2026-11-20T12:30:00Z", "7d": "2026-11-27T12:00:00Z", "2w": "2026-12-04T12:00:00Z",
		"2026-12-01": "2026-12-01T00:00:00Z", "2026-12-01T08:30": "2026-12-01T08:30:00Z", "2026-12-01T08:30:00+02:00": "2026-12-01T06:30:00Z",
		"": "", "0h": "", "-3h": "", "0d": "", "-1d": "", "99999999999d": "", "2026-11-20": "", "2020-01-01": "", "tomorrow": "", "2026-13-01": "", "8": "",
	} {
		got, err := Expiry(s, now)
		if want == "" {
			if err == nil {
				t.Errorf("%q was taken for %v", s, got)
			}
			continue
		}
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v, want %s", s, got, err, want)
		}
	}
}
