package ahp

// tandemux's extensions for agents at the side.
const (
	MethodPromote = "x-tandemux/promote"
	MethodAsk     = "x-tandemux/ask"
	MethodAnswer  = "x-tandemux/answer"
)

// PromoteParams gives a session's terminal to the person (x-tandemux/promote):
// the host decides which of their clients. The answer is the new claim.
type PromoteParams struct {
	Channel URI `json:"channel"`
}

// AskParams asks the person who holds a terminal for it (x-tandemux/ask).
type AskParams struct {
	Channel URI `json:"channel"`
	// Claim is what it is to become: a session of the asking agent's.
	Claim  Claim  `json:"claim"`
	Reason string `json:"reason"` // at most 1 KiB
	// TimeoutMs is how long to wait for the answer, 1 to 3,600,000.
	TimeoutMs int64 `json:"timeoutMs"`
}

// The values of AskResult.Answer.
const (
	AskGranted = "granted"
	AskRefused = "refused"
	AskTimeout = "timeout" // nobody answered
)

// AskResult answers it, when the person has answered or time is over.
type AskResult struct {
	Answer string `json:"answer"`
}

// Ask is a question that waits for the person (TerminalMeta.Ask).
type Ask struct {
	ID     string `json:"id"`
	Who    string `json:"who"` // the agent's name
	Reason string `json:"reason"`
}

// AnswerParams answers a question (x-tandemux/answer); the person's clients may.
type AnswerParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id"` // of the Ask
	Grant   bool   `json:"grant"`
}
