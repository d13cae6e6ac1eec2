package ahp

// CommandInfo describes a command of a terminal: one that its shell ran, or the command that the
// terminal was started with.
type CommandInfo struct {
	ID          string `json:"commandId" doc:"Stable, and the only one in its terminal"`
	CommandLine string `json:"commandLine" doc:"As it was typed"`
	Timestamp   int64  `json:"timestamp" doc:"When it began"` // Unix ms by the host's clock
	Running     bool   `json:"running,omitempty" doc:"It has not ended"`
	ExitCode    *int   `json:"exitCode,omitempty" doc:"Absent while it runs, and when it is not known"`
	DurationMs  *int64 `json:"durationMs,omitempty" doc:"Absent while it runs"`
	Cwd         URI    `json:"cwd,omitempty" doc:"Its directory when it began"`
	Bytes       int64  `json:"bytes" doc:"Of output so far, escape sequences counted"`
}

// The values of CommandParams.Format.
const (
	FormatText = "text" // plain text as a reader would see it; the default
	FormatRaw  = "raw"  // the VT stream
)

// CommandParams asks for one command and its output (x-tandemux/command): the command ID, or,
// without an ID, one counted from the end.
type CommandParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id,omitempty"`
	Back    int    `json:"back,omitempty"` // 1 is the newest, 2 the one before; 0 means 1
	// Failed counts only commands that ended with an exit code other than 0.
	Failed bool   `json:"failed,omitempty"`
	Format string `json:"format,omitempty"`
	// From leaves out that many bytes at the start of the output, which the client has already. It
	// needs an ID and FormatRaw. The answer is then exact: Seq is set and nothing is cut at a
	// line's end.
	From *int64 `json:"from,omitempty"`
}

// CommandResult is the answer to x-tandemux/command. Of long output only the head and the tail are
// kept, each cut at the end of a line if one is near: the whole output was Output, then Omitted
// bytes that are not kept, then Tail.
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

// CommandsResult is the answer to x-tandemux/commands.
type CommandsResult struct {
	Items []CommandInfo `json:"items"` // oldest first, never null
	// Detection is TerminalState.SupportsCommandDetection. Prompt says that the shell waits for a
	// command.
	Detection bool `json:"detection"`
	Prompt    bool `json:"prompt"`
}

// The values of WaitParams.Until.
const (
	WaitExit    = "exit"    // the terminal's process has ended
	WaitCommand = "command" // the command that runs now has finished
	WaitIdle    = "idle"    // no output for IdleMs
	WaitOutput  = "output"  // there was output, or the terminal was cleared
	WaitText    = "text"    // a line of output matches Pattern
)

// WaitParams has the host answer once a condition holds (x-tandemux/wait). The wait is about the
// terminal and the command that runs when the wait begins.
type WaitParams struct {
	Channel URI    `json:"channel"`
	Until   string `json:"until"`
	IdleMs  int64  `json:"idleMs,omitempty"`
	// Pattern is an RE2 expression that is matched against each line of plain text: the output of
	// the running command, or of the program if the terminal's shell does not mark commands; the
	// line with the cursor when the wait begins; and all later output, incomplete lines included.
	Pattern   string `json:"pattern,omitempty"`
	Past      bool   `json:"past,omitempty"`      // if no command runs, all retained output counts too
	New       bool   `json:"new,omitempty"`       // lines that are complete when the wait begins do not count
	TimeoutMs int64  `json:"timeoutMs,omitempty"` // 0 means no limit
	// Input makes a wait for an exit or a command end as soon as what runs waits for input. Other
	// waits report that only when TimeoutMs is over.
	Input bool `json:"input,omitempty"`
	// Call makes the wait also end when the tool call that holds the terminal is sent to the
	// background.
	Call bool `json:"call,omitempty"`
	// From makes the wait count from a mark, taken AgoMs ago: what has happened since then decides
	// it, even if that was with an earlier host or on an earlier connection.
	From  *Mark `json:"from,omitempty"`
	AgoMs int64 `json:"agoMs,omitempty"`
}

// MarkParams asks for a Mark (x-tandemux/mark).
type MarkParams = SubscribeParams

// Mark is a point in a terminal's output. It stays valid when another host takes the terminal over.
type Mark struct {
	Seq  int64  `json:"seq"`            // of the terminal's last action
	Line string `json:"line,omitempty"` // the text before the cursor
	// CommandID is the running command, Last the newest one. Next says that Enter was typed at the
	// prompt and the command has not begun yet.
	CommandID string `json:"commandId,omitempty"`
	Last      string `json:"last,omitempty"`
	Next      bool   `json:"next,omitempty"`
}

// The values of WaitResult.Reason.
const (
	WaitMet      = "met"        // the condition holds
	WaitTimeout  = "timeout"    // TimeoutMs is over
	WaitFinished = "finished"   // the command ended before the condition held
	WaitExited   = "exited"     // the process ended before the condition held
	WaitGone     = "gone"       // the terminal was removed
	WaitInput    = "input"      // what runs waits for input; WaitResult.Line has its prompt
	WaitSent     = "background" // the tool call that holds the terminal was sent to the background
	WaitOverrun  = "overrun"    // output came faster than Pattern could be matched
)

// WaitResult is the answer to x-tandemux/wait.
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
	// Typed makes the host type Line as a person would, without waiting for a prompt or quoting; it
	// is an error if no empty prompt waits.
	Typed bool `json:"typed,omitempty"`
	// Stdin gives the command a pipe as standard input, as CreateMeta.Stdin does.
	Stdin bool `json:"stdin,omitempty"`
	// Key names this request. The client chooses it, at most 64 bytes. A repeated request with the
	// same Key, also to a later host, is the same run and is typed only once.
	Key string `json:"key,omitempty"`
}

// FeedParams writes to the pipe that is a command's standard input (x-tandemux/feed). A client
// sends the next one after the answer to this one.
type FeedParams struct {
	Channel URI    `json:"channel"`
	Data    []byte `json:"data,omitempty"` // base64 on the wire; at most 1 MiB
	End     bool   `json:"end,omitempty"`  // no more data follows
}

// FeedResult is the answer to x-tandemux/feed.
type FeedResult struct {
	Open bool `json:"open"` // false: the command reads no more
}

// RunResult is the answer to x-tandemux/run, sent once the shell has begun the command, after the
// commandExecuted action with that id.
type RunResult struct {
	CommandID   string `json:"commandId"`
	CommandLine string `json:"commandLine"`
}
