package journal

import (
	"os"
	"testing"

	"tandemux/internal/leak"
)

// The test binary is also the host that is killed and the program in the
// terminal, as real processes.
const roleEnv = "TANDEMUX_JOURNAL_TEST_ROLE"

// roles are what the test binary can be besides; files add theirs.
var roles = map[string]func(){}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleEnv)]; ok {
		role()
		return
	}
	leak.Main(m)
}

// joined is what was read, and how much in all is missing in it.
func joined(pieces []Piece) (data []byte, missing uint64) {
	for _, p := range pieces {
		data, missing = append(data, p.Data...), missing+p.Missing
	}
	return data, missing
}
