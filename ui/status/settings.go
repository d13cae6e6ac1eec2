package status

import (
	"slices"
	"strings"

	"tandemux/internal/config/option"
)

// Content chooses what the line shows.
type Content struct {
	StatusLeft, StatusRight []string // segments (Compose); nil means the default ones
	Clock                   string   // "24h" or "12h"; empty means "24h"
}

// Options gives the options, which keep their values in s.
func (s *Content) Options() []option.Option {
	hint := "Segments: " + strings.Join(Names(), ", ") + "."
	return []option.Option{
		{
			Name: "status-left", Value: option.Default(&s.StatusLeft, slices.Clone(Left)), Hint: hint,
			Doc:   `What the status line shows on the left: segments by name, in order. "a|b" shows the first of them that has something to say.`,
			Check: option.Faulty(func() error { _, err := Compose(s.StatusLeft, nil); return err }),
		},
		{
			Name: "status-right", Value: option.Default(&s.StatusRight, slices.Clone(Right)), Hint: hint,
			Doc:   `What it shows on the right, such as ["command", "claim", "cwd", "time"].`,
			Check: option.Faulty(func() error { _, err := Compose(s.StatusLeft, s.StatusRight); return err }),
		},
		{
			Name: "clock", Value: option.Default(&s.Clock, "24h"), Choices: []string{"24h", "12h"},
			Doc: "How the segment time writes the time of day.",
		},
	}
}
