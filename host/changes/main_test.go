package changes

import (
	"testing"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.InMemory(m) }
