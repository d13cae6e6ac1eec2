package ahp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// number is an integer member that some hosts write with a fraction or an
// exponent, as a clock or a stop-watch gives it.
type number int64

// UnmarshalJSON rounds; what does not fit 53 bits is an error.
func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if i, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*n = number(i)
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if math.Abs(f) > 1<<53 {
		return strconv.ErrRange
	}
	*n = number(math.Round(f))
	return nil
}

// life is how either profile says whether a terminal has ended.
type life struct {
	Lifecycle *Lifecycle `json:"lifecycle"`
	ExitCode  *int       `json:"exitCode"`
}

// get prefers the newer member.
func (l life) get() Lifecycle {
	switch {
	case l.Lifecycle != nil && l.Lifecycle.Status != "":
		return *l.Lifecycle
	case l.ExitCode != nil:
		return Lifecycle{Status: StatusExited, ExitCode: l.ExitCode}
	}
	return Lifecycle{Status: StatusRunning}
}

// UnmarshalJSON accepts every profile's form. A _meta of another make is
// dropped.
func (t *TerminalInfo) UnmarshalJSON(b []byte) error {
	var w struct {
		Resource URI    `json:"resource"`
		Title    string `json:"title"`
		Claim    Claim  `json:"claim"`
		life
		Meta json.RawMessage `json:"_meta"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*t = TerminalInfo{Resource: w.Resource, Title: w.Title, Claim: w.Claim, Lifecycle: w.get()}
	if len(w.Meta) > 0 && !isNull(w.Meta) {
		meta := new(TerminalMeta)
		if Unmarshal(w.Meta, meta) == nil {
			t.Meta = meta
		}
	}
	return nil
}

// UnmarshalJSON accepts every profile's form.
func (s *TerminalState) UnmarshalJSON(b []byte) error {
	var w struct {
		Title   string `json:"title"`
		Cwd     URI    `json:"cwd"`
		Cols    number `json:"cols"`
		Rows    number `json:"rows"`
		Content []Part `json:"content"`
		life
		Claim                    Claim `json:"claim"`
		SupportsCommandDetection bool  `json:"supportsCommandDetection"`
		IsPty                    *bool `json:"isPty"`
	}
	content, rest, ok := takeContent(b)
	if !ok {
		rest = b
	}
	if err := Unmarshal(rest, &w); err != nil {
		return err
	}
	if ok {
		w.Content = content
	}
	*s = TerminalState{
		Title: w.Title, Cwd: w.Cwd, Cols: int(w.Cols), Rows: int(w.Rows), Content: w.Content,
		Lifecycle: w.get(), Claim: w.Claim,
		SupportsCommandDetection: w.SupportsCommandDetection, IsPty: w.IsPty,
	}
	return nil
}

// UnmarshalJSON reads a part of any type; of an unknown one the value, if it
// has any, is kept.
func (p *Part) UnmarshalJSON(b []byte) error {
	type plain Part
	w := struct {
		*plain
		Timestamp  number  `json:"timestamp"`
		DurationMs *number `json:"durationMs"`
	}{plain: (*plain)(p)}
	*p = Part{}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	p.Timestamp = int64(w.Timestamp)
	p.DurationMs = (*int64)(w.DurationMs)
	return nil
}

// UnmarshalJSON accepts fractions in the time stamp.
func (a *TerminalCommandExecuted) UnmarshalJSON(b []byte) error {
	type plain TerminalCommandExecuted
	w := struct {
		*plain
		Timestamp number `json:"timestamp"`
	}{plain: (*plain)(a)}
	*a = TerminalCommandExecuted{}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	a.Timestamp = int64(w.Timestamp)
	return nil
}

// UnmarshalJSON accepts fractions in the duration.
func (a *TerminalCommandFinished) UnmarshalJSON(b []byte) error {
	type plain TerminalCommandFinished
	w := struct {
		*plain
		DurationMs *number `json:"durationMs"`
	}{plain: (*plain)(a)}
	*a = TerminalCommandFinished{}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	a.DurationMs = (*int64)(w.DurationMs)
	return nil
}

// UnmarshalJSON makes a null document nil.
func (s *LayoutState) UnmarshalJSON(b []byte) error {
	type plain LayoutState
	*s = LayoutState{}
	if err := Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	s.Doc = notNull(s.Doc)
	return nil
}

// UnmarshalJSON makes a null document nil.
func (a *LayoutChanged) UnmarshalJSON(b []byte) error {
	type plain LayoutChanged
	*a = LayoutChanged{}
	if err := Unmarshal(b, (*plain)(a)); err != nil {
		return err
	}
	a.Doc = notNull(a.Doc)
	return nil
}

// UnmarshalJSON reads the action by its type.
func (e *Envelope) UnmarshalJSON(b []byte) error {
	var w struct {
		Channel         URI             `json:"channel"`
		Action          json.RawMessage `json:"action"`
		ServerSeq       int64           `json:"serverSeq"`
		Origin          *Origin         `json:"origin"`
		RejectionReason string          `json:"rejectionReason"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	a, err := DecodeAction(w.Action)
	if err != nil {
		return err
	}
	*e = Envelope{w.Channel, a, w.ServerSeq, w.Origin, w.RejectionReason}
	return nil
}

// UnmarshalJSON reads the action by its type.
func (d *DispatchParams) UnmarshalJSON(b []byte) error {
	var w struct {
		Channel   URI             `json:"channel"`
		ClientSeq int64           `json:"clientSeq"`
		Action    json.RawMessage `json:"action"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	a, err := DecodeAction(w.Action)
	if err != nil {
		return err
	}
	*d = DispatchParams{w.Channel, w.ClientSeq, a}
	return nil
}

func isNull(b []byte) bool { return string(bytes.TrimSpace(b)) == "null" }

func notNull(b json.RawMessage) json.RawMessage {
	if isNull(b) {
		return nil
	}
	return b
}
