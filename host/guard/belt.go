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
// Where nobody can answer a question, the documents' words are refused wherever they stand,
// unless somebody has allowed the command before (docs/contributing/decisions.md §20).
func (b *Belt) MayRun(session string, argv []string, line string, answerable bool) error {
	err := b.Judge(argv, line, answerable)
	if r, is := errors.AsType[*Refusal](err); is && r.May && b.take(session, Text(argv, line)) {
		return nil
	}
	return err
}

// Judge is MayRun of a command that nobody has allowed yet.
func (b *Belt) Judge(argv []string, line string, answerable bool) error {
	return b.limits().Policy.Judge(argv, line, answerable)
}

type allowed struct {
	by, command string
	at          time.Time
}

// Allow notes that a person has allowed a command in a session; by names what it was
// allowed with.
func (b *Belt) Allow(session, by, command string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) > maxAllowed {
		clear(b.all)
	}
	list := b.all[session]
	b.all[session] = append(list[max(0, len(list)-maxAllowed):], allowed{by, strings.TrimSpace(command), time.Now()})
}

// Forget takes back what was allowed in a session with something whose name begins with by,
// and has not run.
func (b *Belt) Forget(session, by string) {
	b.keep(session, func(o allowed) bool { return !strings.HasPrefix(o.by, by) })
}

// take reports whether a command was allowed, which it is no longer then.
func (b *Belt) take(session, command string) (found bool) {
	b.keep(session, func(o allowed) bool {
		its := !found && o.command == strings.TrimSpace(command)
		found = found || its
		return !its
	})
	return found
}

// keep forgets what is too old, and what is not to be kept.
func (b *Belt) keep(session string, kept func(allowed) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.DeleteFunc(b.all[session], func(o allowed) bool { return time.Since(o.at) > allowedTime || !kept(o) })
	if len(list) > 0 {
		b.all[session] = list
	} else {
		delete(b.all, session)
	}
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
