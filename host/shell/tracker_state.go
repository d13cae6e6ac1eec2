package shell

// TrackerState is a Tracker as data, so that it can be written down and another
// process goes on with it.
type TrackerState struct {
	Available  bool   `json:"available,omitempty"`
	Trusted    bool   `json:"trusted,omitempty"`
	PromptID   uint64 `json:"promptId,omitempty"`
	Running    bool   `json:"running,omitempty"`
	RunTrusted bool   `json:"runTrusted,omitempty"`
	RunID      uint64 `json:"runId,omitempty"`
	Line       string `json:"line,omitempty"`
	HasLine    bool   `json:"hasLine,omitempty"`
	Guess      string `json:"guess,omitempty"`
	Host       string `json:"host,omitempty"`
}

// State is the tracker's.
func (t *Tracker) State() TrackerState {
	return TrackerState{
		Available: t.available, Trusted: t.trusted, PromptID: t.promptID,
		Running: t.running, RunTrusted: t.runTrusted, RunID: t.runID,
		Line: t.line, HasLine: t.hasLine, Guess: t.guess, Host: t.host,
	}
}

// Tracker goes on where the state's was.
func (s TrackerState) Tracker() Tracker {
	return Tracker{
		available: s.Available, trusted: s.Trusted, promptID: s.PromptID,
		running: s.Running, runTrusted: s.RunTrusted, runID: s.RunID,
		line: s.Line, hasLine: s.HasLine, guess: s.Guess, host: s.Host,
	}
}
