package client

import (
	"testing"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
