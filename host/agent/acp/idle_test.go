package acp

import (
	"strings"
	"testing"
	"time"
)

// rests waits until the agent was ended for idleness.
func (b *bench) rests() {
	b.t.Helper()
	s := b.s.(*session)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		l, rested := s.l, s.rest.last
		s.mu.Unlock()
		if l == nil {
			<-rested.done
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatal("the agent is not ended")
		}
	}
}

// An idle agent is ended and takes its session up again with the next message or option,
// without a word (A14); one that could not is left alone.
func TestIdleAgentRests(t *testing.T) {
	t.Parallel()
	const says = `session {"configOptions":[{"id":"speed","name":"Speed","type":"select","currentValue":"slow","options":[{"value":"slow","name":"Slow"},{"value":"fast","name":"Fast"}]}]}
prompt
say hello
`
	b := newBench(t, `caps {"loadSession":true}`+"\n"+says, func(c *Config) { c.Idle = 50 * time.Millisecond })
	b.open("")
	id := b.s.ID()
	for range 2 {
		if _, err := b.prompt(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		b.rests()
	}
	if err := b.s.SetOption(t.Context(), "speed", "fast"); err != nil {
		t.Error(err)
	}
	b.rests()
	if text := b.log.String(); strings.Contains(text, "started again") || strings.Count(text, "hello") < 2 || b.s.ID() != id {
		t.Errorf("session %s, then %s:\n%s", id, b.s.ID(), text)
	}
	b.close()

	b = newBench(t, says, func(c *Config) { c.Idle = time.Millisecond })
	b.open("")
	if _, err := b.prompt(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if s := b.s.(*session); s.rest.timer != nil {
		t.Error("an agent that could not take its session up is to rest")
	}
}
