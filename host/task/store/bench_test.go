package store

import (
	"context"
	"encoding/json"
	"testing"
)

// BenchmarkAppendStream is a delta of an answer, one transaction each.
func BenchmarkAppendStream(b *testing.B) {
	s := open(b, b.TempDir())
	task := begin(b, s, deploy(b, s, deployment("a", "main", "a")), "t")
	e := []StreamEvent{{Type: "text-delta", Data: json.RawMessage(`{"type":"text-delta","id":"1","text":"some words of an answer"}`)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.AppendStream(context.Background(), task.ID, e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTask is a task found by its id.
func BenchmarkTask(b *testing.B) {
	s := open(b, b.TempDir())
	task := begin(b, s, deploy(b, s, deployment("a", "main", "a")), "t")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tasks.Find(context.Background(), task.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCreateTask is the record of a new task.
func BenchmarkCreateTask(b *testing.B) {
	s := open(b, b.TempDir())
	d := deploy(b, s, deployment("a", "main", "a"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tasks.Create(context.Background(), Task{AgentID: d.Agent.ID, VersionID: d.Version.ID, BranchID: d.Branch.ID}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is what the first question about tasks costs.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	open(b, dir).Close()
	for b.Loop() {
		s, err := Open(context.Background(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
