package home

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandemux/host/git"
	"tandemux/host/task/hook"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
)

const (
	// maxRequests bounds the messages to a task that are named in a commit's message.
	maxRequests = 10
	// maxAsking bounds each of them, and maxSaid the agent's last words, in characters.
	maxAsking = 72
	maxSaid   = 300
)

// About returns a commit's message for a task's work since a time. The subject is the first request,
// the body has the other requests, the first line of what the agent said last, and the task's name.
func About(ctx context.Context, s *store.Store, id string, since time.Time) (subject, body string) {
	t, err := s.Tasks.Find(ctx, id)
	if err != nil { // the message can do without
		return "", "" // a message can do without
	}
	var asked []string
	more, said := 0, ""
	err = s.Events.Each(ctx, store.Where{"task": t.ID}, func(e store.Event) error {
		text := hook.Text(e.Content)
		line := git.Subject(text, maxAsking)
		switch {
		case line == "" || e.Status == store.EventDiscarded || e.Status == store.EventPending || e.Created.Before(since):
		case strings.HasPrefix(text, "!") || workspace.Questions(text): // a command; a message of tandemux's own
		case len(asked) == maxRequests:
			more++
		default:
			asked = append(asked, line)
		}
		return nil
	})
	if err == nil {
		err = s.Messages.Each(ctx, store.Where{"task": t.ID}, func(m store.Message) error {
			if line := git.Subject(hook.Text(m.Content), maxSaid); m.Author == "agent" && line != "" && !m.Created.Before(since) {
				said = line
			}
			return nil
		})
	}
	if err != nil || len(asked) == 0 {
		return "", ""
	}
	var b strings.Builder
	for _, line := range asked[1:] {
		fmt.Fprintf(&b, "* %s\n", line)
	}
	if more > 0 {
		fmt.Fprintf(&b, "* and %d more\n", more)
	}
	if b.Len() > 0 && said != "" {
		b.WriteString("\n")
	}
	if said != "" {
		b.WriteString(said + "\n")
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Task: %s\n", t.Name)
	return asked[0], b.String()
}
