package wire

import (
	"fmt"
	"slices"

	"tandemux/ahp"
)

// TakeTexts sets a snapshot's Text from the bytes that came beside its JSON, and returns the
// rest of them. It returns an error if they are too short for Meta.Texts. Text aliases beside.
func TakeTexts(s *ahp.Snapshot, beside []byte) (rest []byte, err error) {
	size := 0
	for _, n := range s.Meta.Texts {
		if n < 0 || n > len(beside)-size {
			return nil, fmt.Errorf("the state of %s: its texts have more than the %d bytes that came", s.Resource, len(beside))
		}
		size += n
	}
	s.Text = beside[:size:size]
	return beside[size:], nil
}

// Terminal returns the terminal state of a snapshot, with the texts of Text if there are any.
// The texts don't alias Text.
func Terminal(s ahp.Snapshot) (st ahp.TerminalState, err error) {
	if err = st.UnmarshalJSON(s.State); err != nil || s.Meta.Texts == nil {
		return st, err
	}
	if len(s.Meta.Texts) != len(st.Content) {
		return st, fmt.Errorf("the state of %s: %d parts have %d texts", s.Resource, len(st.Content), len(s.Meta.Texts))
	}
	rest := string(s.Text)
	for i, n := range s.Meta.Texts {
		if n < 0 || n > len(rest) {
			return st, fmt.Errorf("the state of %s: text is missing", s.Resource)
		}
		*st.Content[i].Share(), rest = rest[:n], rest[n:]
	}
	return st, nil
}

// Apart splits a state into one whose content has no text and the texts of its parts. A
// client joins them again by TakeTexts and Terminal.
func Apart(s ahp.TerminalState) (bare ahp.TerminalState, texts []string) {
	s.Content = slices.Clone(s.Content)
	for i := range s.Content {
		t := s.Content[i].Share()
		texts, *t = append(texts, *t), ""
	}
	return s, texts
}
