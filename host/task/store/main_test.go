package store

import (
	"os"
	"testing"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeUntilKilled(dir)
		return
	}
	leak.InMemory(m)
}
