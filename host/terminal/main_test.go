package terminal

import (
	"os"
	"testing"

	"tandemux/internal/leak"
)

// The test binary is also the host that is killed and the program in its
// terminal, as real processes.
const roleEnv = "TANDEMUX_TERMINAL_TEST_ROLE"

// roles are what the test binary can be besides; files add theirs.
var roles = map[string]func(){}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleEnv)]; ok {
		role()
		return
	}
	leak.Main(m)
}
