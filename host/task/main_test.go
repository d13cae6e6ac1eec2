package task

import (
	"testing"

	"cotty/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
