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
	// Guess is, if Known is false, the line that was executed before, when this
	// one may be the same again: bash with HISTCONTROL=ignoreboth does not tell.
	// If the screen shows the same text, but for its spaces, that is the line.
	Guess string
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
// pure and bounded: it holds at most one command line. The zero value is ready.
type Tracker struct {
	available bool
	trusted   bool   // a trusted mark has been seen
	promptID  uint64 // of the prompt that is shown, from Mark.ID

	running    bool
	runTrusted bool   // who began what runs
	runID      uint64 // its Mark.ID

	line    string // from Line, for the next Execute
	hasLine bool
	guess   string
	host    string // from Remote
}

// Running reports whether a command is being executed.
func (t *Tracker) Running() bool { return t.running }

// Mark takes the next mark of the stream and returns what it means, in order;
// most often nothing or one event, at most three.
func (t *Tracker) Mark(m Mark) []Event {
	if m.Trusted && !t.trusted {
		t.trusted = true
		t.line, t.hasLine, t.guess = "", false, ""
	}
	switch m.Kind {
	case Ignored:
		return nil
	case Remote:
		t.host = m.Host
		return nil
	case Directory:
		return t.directory(m)
	}
	if !m.Trusted && t.trusted {
		return nil
	}
	var events []Event
	if !t.available {
		if !m.Trusted && m.Kind != Prompt && m.Kind != Input {
			return nil // No shell begins with that.
		}
		t.available = true
		events = append(events, Event{Kind: Available, Trusted: m.Trusted})
	}
	return marks[m.Kind](t, m, events)
}

// marks appends the events of each kind of mark.
var marks = map[Kind]func(*Tracker, Mark, []Event) []Event{
	Prompt:       (*Tracker).promptMark,
	Input:        (*Tracker).inputMark,
	Secondary:    (*Tracker).continuationMark,
	SecondaryEnd: (*Tracker).continuationEndMark,
	Line:         (*Tracker).lineMark,
	Guess:        (*Tracker).guessMark,
	Execute:      (*Tracker).executeMark,
	Done:         (*Tracker).doneMark,
}

// Exit says that the process has ended: what was being executed is finished.
// The tracker may be used for another process then.
func (t *Tracker) Exit() []Event {
	events := t.finish(nil, nil)
	*t = Tracker{available: t.available}
	return events
}

// finish ends what runs, if anything does.
func (t *Tracker) finish(events []Event, code *int) []Event {
	if !t.running {
		return events
	}
	t.running = false
	return append(events, Event{Kind: Finished, Trusted: t.runTrusted, ExitCode: code})
}

// directory passes on what a shell says of its directory, unless that may be
// another's: without a host's name only our own shell's word counts, once there
// is one.
func (t *Tracker) directory(m Mark) []Event {
	host := m.Host
	if !m.Trusted && host == "" {
		if t.trusted {
			return nil
		}
		host = t.host
	}
	return []Event{{Kind: Cwd, Trusted: m.Trusted, Dir: m.Text, Host: host}}
}

func (t *Tracker) promptMark(m Mark, events []Event) []Event {
	events = t.finish(events, nil)
	t.line, t.hasLine, t.guess = "", false, ""
	if m.ID != 0 && m.ID == t.promptID {
		return events
	}
	t.promptID = m.ID
	return append(events, Event{Kind: PromptStart, Trusted: m.Trusted, Ends: m.Ends})
}

func (t *Tracker) inputMark(m Mark, events []Event) []Event {
	events = t.finish(events, nil)
	return append(events, Event{Kind: PromptEnd, Trusted: m.Trusted})
}

func (t *Tracker) continuationMark(m Mark, events []Event) []Event {
	if t.running {
		return events
	}
	return append(events, Event{Kind: ContinuationStart, Trusted: m.Trusted})
}

func (t *Tracker) continuationEndMark(m Mark, events []Event) []Event {
	if t.running {
		return events
	}
	return append(events, Event{Kind: ContinuationEnd, Trusted: m.Trusted})
}

// lineMark keeps a command line for the execution that follows. Of what runs
// already none can follow, unless it is the next command of our own shell whose
// end was not told.
func (t *Tracker) lineMark(m Mark, events []Event) []Event {
	if t.running && !m.Trusted {
		return events
	}
	t.line, t.hasLine, t.guess = "", m.HasText, ""
	if m.HasText {
		t.line = m.Text
	}
	return events
}

// guessMark keeps what may be the command line; only our own script sends it.
func (t *Tracker) guessMark(m Mark, events []Event) []Event {
	t.line, t.hasLine, t.guess = "", false, m.Text
	return events
}

func (t *Tracker) executeMark(m Mark, events []Event) []Event {
	line, known, guess := t.line, t.hasLine, t.guess
	t.line, t.hasLine, t.guess = "", false, ""
	if m.HasText && !known {
		line, known = m.Text, true
	}
	if t.running {
		next := m.Trusted && (!t.runTrusted || m.ID != 0 && m.ID != t.runID)
		if !next {
			return events
		}
		events = t.finish(events, nil)
	}
	t.running, t.runTrusted, t.runID, t.promptID = true, m.Trusted, m.ID, 0
	return append(events, Event{Kind: Executed, Trusted: m.Trusted, CommandLine: line, Known: known, Guess: guess})
}

func (t *Tracker) doneMark(m Mark, events []Event) []Event {
	if !m.HasExit || m.Trusted != t.runTrusted {
		return t.finish(events, nil)
	}
	return t.finish(events, &m.Exit)
}
