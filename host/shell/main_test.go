package shell

import (
	"os"
	"os/signal"
	"testing"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) {
	if signal.Ignored(os.Interrupt) { // as in a script's background: the shells would ignore it, too
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	leak.InMemory(m)
}
