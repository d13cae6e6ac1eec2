package ahp

// CommandInfo describes a command of a terminal: one that its shell ran, or
// the one that the terminal was started with.
type CommandInfo struct {
	ID          string `json:"commandId" doc:"Stable, and the only one in its terminal"`
	CommandLine string `json:"commandLine" doc:"As it was typed"`
	Timestamp   int64  `json:"timestamp" doc:"When it began"` // Unix ms, host's clock
	Running     bool   `json:"running,omitempty" doc:"It has not ended"`
	ExitCode    *int   `json:"exitCode,omitempty" doc:"Absent while it runs, and when it is not known"`
	DurationMs  *int64 `json:"durationMs,omitempty" doc:"Absent while it runs"`
	Cwd         URI    `json:"cwd,omitempty" doc:"Its directory when it began"`
	Bytes       int64  `json:"bytes" doc:"Of output so far, escape sequences counted"`
}

// The values of CommandParams.Format.
const (
	FormatText = "text" // plain: what a reader of the lines would see; the default
	FormatRaw  = "raw"  // the VT stream
)

// CommandParams asks for one command and its output (x-tandemux/command): the one
// named ID, or else counted from the end.
type CommandParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id,omitempty"`
	Back    int    `json:"back,omitempty"` // counts from the end, 1 is the newest; 0 means 1
	// Failed counts only commands that ended with an exit code other than 0.
	Failed bool   `json:"failed,omitempty"`
	Format string `json:"format,omitempty"`
	// From leaves out as many bytes of its output, which the asker has, and makes
	// the answer exact: Seq is in it, and nothing is cut at a line's end. It is for
	// an ID and FormatRaw.
	From *int64 `json:"from,omitempty"`
}

// CommandResult answers it. Of much output the head and the tail are kept, each
// cut at a line's end where one is near: the whole output is Output, then
// Omitted bytes of VT stream that are not kept, then Tail.
type CommandResult struct {
	CommandInfo
	Output  string `json:"output" doc:"What it printed; of much the beginning"`
	Omitted int64  `json:"omitted,omitempty" doc:"Bytes of output between these two"`
	Tail    string `json:"tail,omitempty" doc:"The end of much output"`
	Seq     int64  `json:"seq,omitempty" doc:"The number of the last action that is in it"`
}

// CommandsParams asks for the commands that a terminal remembers
// (x-tandemux/commands), at most Limit of them; 0 means all.
type CommandsParams struct {
	Channel URI `json:"channel"`
	Limit   int `json:"limit,omitempty"`
}

// CommandsResult answers it.
type CommandsResult struct {
	Items []CommandInfo `json:"items"` // the newest last, never null
	// Detection is SupportsCommandDetection, Prompt whether the shell waits for
	// a command.
	Detection bool `json:"detection"`
	Prompt    bool `json:"prompt"`
}

// The values of WaitParams.Until.
const (
	WaitExit    = "exit"    // the terminal's process has ended
	WaitCommand = "command" // the command that runs now has finished
	WaitIdle    = "idle"    // no output for IdleMs
	WaitOutput  = "output"  // output, or a clearing
	WaitText    = "text"    // a line of output matches Pattern
)

// WaitParams waits, in the host, for a condition (x-tandemux/wait). The wait is
// bound to the terminal and to the command that runs when it begins.
type WaitParams struct {
	Channel URI    `json:"channel"`
	Until   string `json:"until"`
	IdleMs  int64  `json:"idleMs,omitempty"`
	// Pattern is an RE2 expression, matched against each line of plain text on
	// its own: what the command that runs has printed, or the program of a terminal
	// whose shell marks no commands; the line that the cursor is on when the wait
	// begins, and all output after that, also of a line that is not complete.
	Pattern   string `json:"pattern,omitempty"`
	Past      bool   `json:"past,omitempty"`      // while no command runs, all output that is kept counts, too
	New       bool   `json:"new,omitempty"`       // what is complete when the wait begins does not count
	TimeoutMs int64  `json:"timeoutMs,omitempty"` // 0 means none
	// Input has a wait for an exit or a command end when what runs waits for input, and
	// another that has taken TimeoutMs say so.
	Input bool `json:"input,omitempty"`
	// Call has it end, too, when the tool call that works there is sent to the background.
	Call bool `json:"call,omitempty"`
	// From makes it a wait that began at a mark, AgoMs ago: what has happened
	// since decides it as if it had been there all the time, in an earlier host or
	// on an earlier connection.
	From  *Mark `json:"from,omitempty"`
	AgoMs int64 `json:"agoMs,omitempty"`
}

// MarkParams asks for a Mark (x-tandemux/mark).
type MarkParams = SubscribeParams

// Mark is an instant in a terminal's life. It means the same to every host that
// the terminal lives through.
type Mark struct {
	Seq  int64  `json:"seq"`            // of the terminal's last action
	Line string `json:"line,omitempty"` // up to the cursor
	// CommandID is the command that runs, Last the newest one; Next says that
	// Enter was typed at the prompt and what it begins has not begun.
	CommandID string `json:"commandId,omitempty"`
	Last      string `json:"last,omitempty"`
	Next      bool   `json:"next,omitempty"`
}

// The values of WaitResult.Reason.
const (
	WaitMet      = "met"        // the condition holds
	WaitTimeout  = "timeout"    // TimeoutMs is over
	WaitFinished = "finished"   // the command that ran has finished, and with it the wait
	WaitExited   = "exited"     // the process has ended, and with it the wait
	WaitGone     = "gone"       // the terminal was removed
	WaitInput    = "input"      // what runs waits for input; WaitResult.Line is its prompt
	WaitSent     = "background" // the tool call that works there was sent to the background
	WaitOverrun  = "overrun"    // output came faster than Pattern could be matched
)

// WaitResult answers it.
type WaitResult struct {
	Reason    string `json:"reason" doc:"met, timeout, exited, finished, gone or overrun"`
	Running   bool   `json:"running,omitempty" doc:"What was waited for, a program or a command, still runs"`
	ExitCode  *int   `json:"exitCode,omitempty" doc:"Of that, once it is known"`
	CommandID string `json:"commandId,omitempty" doc:"The command that was waited for"`
	Line      string `json:"line,omitempty" doc:"That matched"`
}

// RunParams types a command into a shell that waits for one (x-tandemux/run).
type RunParams struct {
	Channel URI `json:"channel"`
	// Command is an argument vector; the host quotes it for the shell. Exactly
	// one of Command and Line is given.
	Command []string `json:"command,omitempty"`
	// Line is a line in the shell's own language.
	Line string `json:"line,omitempty"`
	// Typed makes the host type Line as it is, as a person would, where an empty
	// prompt waits, and refuse otherwise: nothing waits for a prompt or quotes.
	Typed bool `json:"typed,omitempty"`
	// Stdin gives it a pipe as standard input, as CreateMeta.Stdin does.
	Stdin bool `json:"stdin,omitempty"`
	// Key, at most 64 bytes and of the client's making, names this request: asked
	// again with it, also of a next host, it is the same run, typed once.
	Key string `json:"key,omitempty"`
}

// FeedParams fills the pipe that a command reads (x-tandemux/feed). The next may
// be sent when this one is answered.
type FeedParams struct {
	Channel URI    `json:"channel"`
	Data    []byte `json:"data,omitempty"` // base64 on the wire; at most 1 MiB
	End     bool   `json:"end,omitempty"`  // nothing follows
}

// FeedResult answers it.
type FeedResult struct {
	Open bool `json:"open"` // false: the command takes no more
}

// RunResult answers it once the shell has begun the command: the commandExecuted
// action with that id precedes the answer.
type RunResult struct {
	CommandID   string `json:"commandId"`
	CommandLine string `json:"commandLine"`
}
