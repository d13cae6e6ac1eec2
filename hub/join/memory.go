package join

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// memory is what the machine has, in bytes; 0 where it does not say so.
func memory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if rest, is := strings.CutPrefix(in.Text(), "MemTotal:"); is {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64) //nolint:errcheck // else 0
			return n << 10
		}
	}
	return 0
}
