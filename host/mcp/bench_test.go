package mcp_test

import (
	"os/exec"
	"sync"
	"testing"

	"tandemux/internal/hosttest"
)

// BenchmarkRunCommand is a run_command over stdio, and the command by itself.
func BenchmarkRunCommand(b *testing.B) {
	b.Run("mcp", func(b *testing.B) {
		a := newAgent(hosttest.New(b, ""), "bench")
		a.get("run_command", m{"command": []string{"true"}})
		for b.Loop() {
			a.get("run_command", m{"command": []string{"true"}})
		}
	})
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkManyCommands is a hundred at once.
func BenchmarkManyCommands(b *testing.B) {
	a := newAgent(hosttest.New(b, "agent-calls = 0\n"), "bench")
	a.get("run_command", m{"command": []string{"true"}})
	for b.Loop() {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { a.get("run_command", m{"command": []string{"true"}}) })
		}
		all.Wait()
	}
}
