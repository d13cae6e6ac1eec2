package git

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// booted is when the machine started, zero where that is not known.
func booted() time.Time {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range bytes.Lines(text) {
		if at, is := bytes.CutPrefix(bytes.TrimSpace(line), []byte("btime ")); is {
			if n, err := strconv.ParseInt(string(at), 10, 64); err == nil {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}
