package store

import "encoding/json"

// Part is what an event or a message holds (U11, U45): text, which is markdown,
// or data.
type Part struct {
	Type string          `json:"type" enum:"text,data"`
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// TextPart is a part of text.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// DataPart is a part of data, which is JSON.
func DataPart(data json.RawMessage) Part { return Part{Type: "data", Data: data} }

// Check says what is wrong with a part.
func (p Part) Check() error {
	switch {
	case p.Type == "text" && p.Data == nil:
		if len(p.Text) > MaxContent {
			return Errorf(TooLarge, "the text has %d bytes, more than %d", len(p.Text), MaxContent)
		}
		return nil
	case p.Type == "data" && p.Text == "" && len(p.Data) > 0:
		return checkDoc("the data", p.Data, MaxContent)
	case p.Type != "text" && p.Type != "data":
		return Errorf(Invalid, `the type of a part is "text" or "data", not %.40q`, p.Type)
	}
	return Errorf(Invalid, `a part of type "text" has text, one of type "data" has data, and neither has both`)
}

func checkParts(parts []Part) error {
	if len(parts) == 0 {
		return Errorf(Invalid, "there is no content")
	}
	total := 0
	for _, p := range parts {
		if err := p.Check(); err != nil {
			return err
		}
		total += len(p.Text) + len(p.Data)
	}
	if total > MaxContent {
		return Errorf(TooLarge, "the content has %d bytes, more than %d", total, MaxContent)
	}
	return nil
}
