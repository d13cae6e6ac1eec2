package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestStreamIsBounded(t *testing.T) { onBoth(t, testStreamIsBounded) }

func testStreamIsBounded(t *testing.T, db backend) {
	dir := t.TempDir()
	s := db.open(t, dir)
	s.most.stream = 2000
	ctx := context.Background()
	task := begin(t, s, deploy(t, s, deployment("a", "main", "a")), "t")
	batch := make([]StreamEvent, 500)
	for i := range batch {
		batch[i] = StreamEvent{Type: "x", Data: json.RawMessage(`1`)}
	}
	for range 5 {
		if _, err := s.AppendStream(ctx, task.ID, batch); err != nil {
			t.Fatal(err)
		}
	}
	events, first, err := s.Stream(ctx, task.ID, 0, 10)
	if err != nil || first != 501 || events[0].Seq != 501 {
		t.Errorf("of 2500 events the first left is %d (%d), %v", first, events[0].Seq, err)
	}
	if events, first, err = s.Stream(ctx, task.ID, 2490, 100); err != nil || len(events) != 10 || events[9].Seq != 2500 || first != 501 {
		t.Errorf("behind 2490 are %d events, the first left is %d, %v", len(events), first, err)
	}
	s.Close()
	s = db.open(t, dir)
	s.most.stream = 2000
	if n, err := s.AppendStream(ctx, task.ID, batch[:1]); err != nil || n != 2501 {
		t.Errorf("after opening again the next is %d, %v", n, err)
	}
	if _, first, _ := s.Stream(ctx, task.ID, 0, 1); first != 701 {
		t.Errorf("after opening again the first left is %d", first)
	}
}

func TestStreamIsBoundedInBytes(t *testing.T) { onBoth(t, testStreamIsBoundedInBytes) }

func testStreamIsBoundedInBytes(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	s.most.streamRaw = 4 << 20
	ctx := context.Background()
	task := begin(t, s, deploy(t, s, deployment("a", "main", "a")), "t")
	big := StreamEvent{Type: "x", Data: json.RawMessage(`"` + strings.Repeat("y", 900_000) + `"`)}
	var last int64
	for range 7 {
		var err error
		if last, err = s.AppendStream(ctx, task.ID, []StreamEvent{big}); err != nil {
			t.Fatal(err)
		}
	}
	events, first, err := s.Stream(ctx, task.ID, 0, 100)
	if err != nil || last != 7 || first < 4 || len(events) != int(7-first+1) {
		t.Errorf("%d events from %d to %d are left, %v", len(events), first, last, err)
	}
	if _, err := s.AppendStream(ctx, task.ID, []StreamEvent{{Type: "x", Data: make(json.RawMessage, MaxPart+1)}}); !errors.Is(err, TooLarge) {
		t.Errorf("an event of more than MaxPart: %v", err)
	}
}

func TestLogIsBounded(t *testing.T) { onBoth(t, testLogIsBounded) }

func testLogIsBounded(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	s.most.logs = 500
	ctx := context.Background()
	d := deploy(t, s, deployment("a", "main", "a"))
	other := deploy(t, s, deployment("b", "main", "a"))
	if err := s.AddLogs(ctx, []LogEntry{{AgentID: other.Agent.ID, Level: Info, Text: "stays"}}); err != nil {
		t.Fatal(err)
	}
	batch := make([]LogEntry, 100)
	for i := range batch {
		batch[i] = LogEntry{AgentID: d.Agent.ID, Level: Info, Source: "agent", Text: fmt.Sprint(i)}
	}
	for range 6 {
		if err := s.AddLogs(ctx, batch); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := s.r.QueryRow("select count(*) from logs where agent = ?", d.Agent.ID).Scan(&n); err != nil || n > 500 || n < 250 {
		t.Errorf("of 600 lines %d are left, %v", n, err)
	}
	if lines, err := s.Logs(ctx, LogFilter{Agent: d.Agent.ID, Limit: 1}); err != nil || lines[0].Text != "99" {
		t.Errorf("the last is %v, %v", lines, err)
	}
	if lines, err := s.Logs(ctx, LogFilter{Agent: other.Agent.ID}); err != nil || len(lines) != 1 {
		t.Errorf("another agent's are %v, %v", lines, err)
	}
	long := strings.Repeat("ä", MaxLogText)
	if err := s.AddLogs(ctx, []LogEntry{{AgentID: d.Agent.ID, Level: Info, Text: long}, {AgentID: d.Agent.ID, Level: Info, Text: "a\xffb"}, {AgentID: "agt_gone", Text: "x"}}); err != nil {
		t.Fatal(err)
	}
	lines, err := s.Logs(ctx, LogFilter{Agent: d.Agent.ID, Limit: 2})
	if err != nil || !strings.HasSuffix(lines[0].Text, fmt.Sprintf("ä… (%d bytes)", len(long))) || lines[1].Text != "a\uFFFDb" {
		t.Errorf("a long line ends %q, a broken one is %q, %v", lines[0].Text[len(lines[0].Text)-30:], lines[1].Text, err)
	}
}

func TestContentIsBounded(t *testing.T) { onBoth(t, testContentIsBounded) }

func testContentIsBounded(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	s.most.pending = 50
	ctx := context.Background()
	d := deploy(t, s, deployment("a", "main", "a"))
	task := begin(t, s, d, "t")
	long := strings.Repeat("x", MaxContent+1)
	add := func(parts ...Part) error {
		_, err := s.AddEvent(ctx, Event{TaskID: task.ID, Content: parts})
		if _, merr := s.Messages.Create(ctx, Message{TaskID: task.ID, Content: parts}); (merr == nil) != (err == nil) {
			t.Errorf("an event of it: %v, a message: %v", err, merr)
		}
		return err
	}
	for name, c := range map[string]struct {
		parts []Part
		want  error
	}{
		"text":          {[]Part{TextPart("a")}, nil},
		"data":          {[]Part{DataPart(json.RawMessage(`{"a":1}`))}, nil},
		"nothing":       {nil, Invalid},
		"long text":     {[]Part{TextPart(long)}, TooLarge},
		"long in all":   {[]Part{TextPart(long[:MaxContent/2+1]), TextPart(long[:MaxContent/2+1])}, TooLarge},
		"no such type":  {[]Part{{Type: "image", Text: "a"}}, Invalid},
		"both":          {[]Part{{Type: "text", Text: "a", Data: json.RawMessage(`1`)}}, Invalid},
		"data, no JSON": {[]Part{DataPart(json.RawMessage(`{`))}, Invalid},
		"data, none":    {[]Part{{Type: "data"}}, Invalid},
	} {
		if err := add(c.parts...); c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := s.States.Create(ctx, State{TaskID: task.ID, AgentID: d.Agent.ID, State: json.RawMessage(`[1]`)}); !errors.Is(err, Invalid) {
		t.Errorf("a state that is no object: %v", err)
	}
	if _, err := s.States.Create(ctx, State{TaskID: task.ID, AgentID: d.Agent.ID, State: json.RawMessage(`{"a":"` + strings.Repeat("x", MaxState) + `"}`)}); !errors.Is(err, TooLarge) {
		t.Errorf("a state that is too long: %v", err)
	}
	for range 50 {
		if err := func() error {
			_, err := s.AddEvent(ctx, Event{TaskID: task.ID, Content: []Part{TextPart("a")}})
			return err
		}(); err != nil {
			if errors.Is(err, InUse) && strings.Contains(err.Error(), "wait already") {
				return
			}
			t.Fatal(err)
		}
	}
	t.Error("events without end may wait")
}
