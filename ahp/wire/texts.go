package wire

import (
	"fmt"
	"slices"

	"tandemux/ahp"
)

// TakeTexts takes a snapshot's Text from what came beside its JSON, and gives what is left.
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

// Terminal is a terminal's state, which has nothing of its snapshot's memory.
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

// Apart is a state whose content has no text, and the texts of its parts, for whom TakeTexts
// and Terminal put it together again.
func Apart(s ahp.TerminalState) (bare ahp.TerminalState, texts []string) {
	s.Content = slices.Clone(s.Content)
	for i := range s.Content {
		t := s.Content[i].Share()
		texts, *t = append(texts, *t), ""
	}
	return s, texts
}
