package shell

// EventKind is what has happened in a shell.
type EventKind uint8

const (
	// Available: the shell marks its commands; once, before all others but Cwd.
	Available EventKind = iota + 1
	// PromptStart: a prompt begins at the mark's place. From here on the shell
	// reads what is typed. There is one for each prompt, also after an empty line;
	// a foreign integration may repeat it when it draws the prompt again.
	PromptStart
	// PromptEnd: what is typed begins at the mark's place. Only bash and foreign
	// integrations tell; a redrawn prompt repeats it, and the last one counts.
	PromptEnd
	// ContinuationStart and ContinuationEnd enclose a secondary prompt between
	// PromptEnd and Executed.
	ContinuationStart
	ContinuationEnd
	// Executed: a command line is being executed; its output begins at the mark's
	// place.
	Executed
	// Finished: the command that was executed last has ended; its output ends at
	// the mark's place.
	Finished
	// Cwd: the shell's working directory is Dir on Host.
	Cwd
)

// Event is one thing that happened, at the place in the output where the mark
// was that told it.
type Event struct {
	Kind EventKind
	// Trusted: told by our own script.
	Trusted bool
	// CommandLine is the text of Executed, as in Mark.Text; if Known is false it
	// is "" and the text is what the screen shows between PromptEnd and here.
	CommandLine string
	Known       bool
	// ExitCode is that of Finished, nil when it is unknown.
	ExitCode *int
	// Ends, of PromptStart, is set when a PromptEnd is sure to follow. What is
	// typed before it may be shown twice, by the terminal and by the shell.
	Ends bool
	// Dir is an absolute path of any bytes, Host the host it is on as the shell
	// named it. An empty Host with Trusted is this host; without, nobody said.
	Dir, Host string
}

// Tracker is a state machine: a shell's marks in, commands' events out. It is
// pure and bounded: it holds at most one command line. The zero value is ready. Its
// members are for its JSON, by which another process goes on with it.
type Tracker struct {
	Available bool   `json:"available,omitempty"`
	Trusted   bool   `json:"trusted,omitempty"`  // a trusted mark has been seen
	PromptID  uint64 `json:"promptId,omitempty"` // of the prompt that is shown, from Mark.ID

	// Running says that a command is being executed.
	Running    bool   `json:"running,omitempty"`
	RunTrusted bool   `json:"runTrusted,omitempty"` // who began what runs
	RunID      uint64 `json:"runId,omitempty"`      // its Mark.ID

	Line    string `json:"line,omitempty"` // from a Line mark, for the next Execute
	HasLine bool   `json:"hasLine,omitempty"`
	Host    string `json:"host,omitempty"` // from Remote
}

// Mark takes the next mark of the stream and returns what it means, in order;
// most often nothing or one event, at most three.
func (t *Tracker) Mark(m Mark) []Event {
	if m.Trusted && !t.Trusted {
		t.Trusted = true
		t.Line, t.HasLine = "", false
	}
	switch m.Kind {
	case Ignored:
		return nil
	case Remote:
		t.Host = m.Host
		return nil
	case Directory:
		return t.directory(m)
	}
	if !m.Trusted && t.Trusted {
		return nil
	}
	var events []Event
	if !t.Available {
		if !m.Trusted && m.Kind != Prompt && m.Kind != Input {
			return nil // No shell begins with that.
		}
		t.Available = true
		events = append(events, Event{Kind: Available, Trusted: m.Trusted})
	}
	switch m.Kind {
	case Prompt:
		return t.promptMark(m, events)
	case Input:
		return append(t.finish(events, nil), Event{Kind: PromptEnd, Trusted: m.Trusted})
	case Secondary, SecondaryEnd:
		kind := ContinuationStart
		if m.Kind == SecondaryEnd {
			kind = ContinuationEnd
		}
		if !t.Running {
			events = append(events, Event{Kind: kind, Trusted: m.Trusted})
		}
	case Line:
		// For the execution that follows. Of what runs already none can follow, unless
		// it is the next command of our own shell whose end was not told.
		if !t.Running || m.Trusted {
			t.Line, t.HasLine = "", m.HasText
			if m.HasText {
				t.Line = m.Text
			}
		}
	case Execute:
		return t.executeMark(m, events)
	case Done:
		if m.HasExit && m.Trusted == t.RunTrusted {
			return t.finish(events, &m.Exit)
		}
		return t.finish(events, nil)
	}
	return events
}

// finish ends what runs, if anything does.
func (t *Tracker) finish(events []Event, code *int) []Event {
	if !t.Running {
		return events
	}
	t.Running = false
	return append(events, Event{Kind: Finished, Trusted: t.RunTrusted, ExitCode: code})
}

// directory passes on what a shell says of its directory, unless that may be
// another's: without a host's name only our own shell's word counts, once there
// is one.
func (t *Tracker) directory(m Mark) []Event {
	host := m.Host
	if !m.Trusted && host == "" {
		if t.Trusted {
			return nil
		}
		host = t.Host
	}
	return []Event{{Kind: Cwd, Trusted: m.Trusted, Dir: m.Text, Host: host}}
}

func (t *Tracker) promptMark(m Mark, events []Event) []Event {
	events = t.finish(events, nil)
	t.Line, t.HasLine = "", false
	if m.ID != 0 && m.ID == t.PromptID {
		return events
	}
	t.PromptID = m.ID
	return append(events, Event{Kind: PromptStart, Trusted: m.Trusted, Ends: m.Ends})
}

func (t *Tracker) executeMark(m Mark, events []Event) []Event {
	line, known := t.Line, t.HasLine
	t.Line, t.HasLine = "", false
	if m.HasText && !known {
		line, known = m.Text, true
	}
	if t.Running {
		next := m.Trusted && (!t.RunTrusted || m.ID != 0 && m.ID != t.RunID)
		if !next {
			return events
		}
		events = t.finish(events, nil)
	}
	t.Running, t.RunTrusted, t.RunID, t.PromptID = true, m.Trusted, m.ID, 0
	return append(events, Event{Kind: Executed, Trusted: m.Trusted, CommandLine: line, Known: known})
}
