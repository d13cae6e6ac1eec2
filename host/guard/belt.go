package guard

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/host/shell"
)

const (
	// allowedTime is how long a command that a person has allowed may be begun.
	allowedTime = 10 * time.Minute
	// maxAllowed bounds those of an agent, and the agents.
	maxAllowed = 100
)

// Belt judges what agents are to run: all ways to run something come by it. It knows the
// commands that a person has allowed, by the session that the agent works in; each may be
// begun once. Its methods may be called from any goroutine.
type Belt struct {
	limits func() Limits

	mu  sync.Mutex
	all map[string][]allowed
}

// NewBelt makes one; limits are asked for at each command.
func NewBelt(limits func() Limits) *Belt { return &Belt{limits: limits, all: map[string][]allowed{}} }

// MayRun says with a *Refusal why an agent may not run a command in a session, or a line.
func (b *Belt) MayRun(session string, argv []string, line string) error {
	err := b.Judge(argv, line)
	if r, is := errors.AsType[*Refusal](err); is && r.May && b.take(session, Text(argv, line)) {
		return nil
	}
	return err
}

// Judge is MayRun of a command that nobody has allowed yet.
func (b *Belt) Judge(argv []string, line string) error { return b.limits().Policy.Judge(argv, line) }

type allowed struct {
	command string
	at      time.Time
}

// Allow notes that a person has allowed a command in a session.
func (b *Belt) Allow(session, command string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) > maxAllowed {
		clear(b.all)
	}
	list := b.all[session]
	b.all[session] = append(list[max(0, len(list)-maxAllowed):], allowed{strings.TrimSpace(command), time.Now()})
}

// take reports whether a command was allowed, which it is no longer then.
func (b *Belt) take(session, command string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.DeleteFunc(b.all[session], func(o allowed) bool { return time.Since(o.at) > allowedTime })
	i := slices.IndexFunc(list, func(o allowed) bool { return o.command == strings.TrimSpace(command) })
	if i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) > 0 {
		b.all[session] = list
	} else {
		delete(b.all, session)
	}
	return i >= 0
}

// Text is a command as a person reads and allows it: the line of a shell, or the program
// with its arguments, quoted.
func Text(argv []string, line string) string {
	switch {
	case line != "":
		return line
	case len(argv) == 3 && shells[argv[0][strings.LastIndexByte(argv[0], '/')+1:]] && argv[1] == "-c":
		return argv[2]
	}
	return shell.Quote(argv, "")
}
