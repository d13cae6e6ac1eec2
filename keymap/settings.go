package keymap

import (
	"fmt"
	"strings"

	"tandemux/internal/config/option"
)

// Selection chooses the keys. The zero Selection is the first preset's.
type Selection struct {
	Keymap  string // name of a preset
	Prefix  string // replaces the preset's prefix key
	AltKeys bool   // those with alt work without the prefix
	// ModeKeys are copy mode's keys: "vi", which empty means, or "emacs".
	ModeKeys string
	// Keys are the user's bindings: chord to "command [args]", or "" to unbind;
	// CopyKeys those in copy mode, ChatKeys those in the prompt of a chat and
	// ReadingKeys those in its transcript.
	Keys, CopyKeys, ChatKeys, ReadingKeys map[string]string
}

// Options gives the options, which keep their values in s. check is Override's.
func (s *Selection) Options(check func(name string, args []string) error) []option.Option {
	return []option.Option{
		{
			Name: "keymap", Value: option.Default(&s.Keymap, Presets()[0]), Choices: Presets(),
			Doc: "The preset of keys: tandemux's own, or those of tmux or screen. docs/keys.md has them all.",
		},
		{
			Name: "prefix", Value: &s.Prefix,
			Doc:   `The prefix key in place of the preset's, such as "ctrl+a". Pressed twice it goes to the program.`,
			Check: option.Faulty(func() error { _, err := s.prefix(); return err }),
		},
		{
			Name: "alt-keys", Value: &s.AltKeys,
			Doc: "Whether a set of keys with alt works without the prefix, such as alt+left to go to the pane on the left. docs/keys.md has them; " +
				"programs don't get these keys then.",
		},
		{
			Name: "mode-keys", Value: option.Default(&s.ModeKeys, ModeKeys()[0]), Choices: ModeKeys(),
			Doc: "The keys of copy mode. docs/keys.md has them all.",
		},
		{
			Name: "keys", Value: &s.Keys,
			Doc: `Your bindings: from keys to a command with its arguments, or "" to unbind. ` +
				`The word prefix stands for the prefix key. docs/keys.md has the commands.`,
			Example: []string{`"prefix v" = "split-right"`, `"prefix ctrl+l" = "redraw"`, `"alt+enter" = "new-tab"`, `"prefix x" = ""`},
			Check:   func() []option.Fault { return s.faults(check) },
		},
		{
			Name: "copy-keys", Value: &s.CopyKeys,
			Doc:     "Your bindings in copy mode, which need no prefix.",
			Example: []string{`"ctrl+j" = "copy-yank"`},
		},
		{
			Name: "chat-keys", Value: &s.ChatKeys,
			Doc:     "Your bindings in the prompt of a chat, which need no prefix.",
			Example: []string{`"ctrl+x" = "chat-steer"`},
		},
		{
			Name: "reading-keys", Value: &s.ReadingKeys,
			Doc:     "Your bindings in the transcript of a chat, which need no prefix.",
			Example: []string{`"x" = "chat-fold"`},
		},
	}
}

// prefix is the prefix key that was chosen; the zero Key for the preset's.
func (s *Selection) prefix() (Key, error) {
	if s.Prefix == "" {
		return Key{}, nil
	}
	k, err := Parse(s.Prefix)
	if err == nil {
		err = CheckPrefix(k)
	}
	return k, err
}

// Table makes the binding table, with what is wrong with the user's bindings.
func (s *Selection) Table(check func(name string, args []string) error) (Table, []Problem, error) {
	name := s.Keymap
	if name == "" {
		name = Presets()[0]
	}
	t, ok := Preset(name)
	if !ok {
		return t, nil, fmt.Errorf("choose keymap: there is no preset %q: use one of %s", name, strings.Join(Presets(), ", "))
	}
	if t, ok = t.WithModeKeys(s.ModeKeys); !ok {
		return t, nil, fmt.Errorf("choose copy mode's keys: there are no %q ones: use one of %s", s.ModeKeys, strings.Join(ModeKeys(), ", "))
	}
	k, err := s.prefix()
	if err != nil {
		return t, nil, fmt.Errorf("choose prefix: %w", err)
	}
	if s.Prefix != "" {
		t = t.WithPrefix(k)
	}
	if s.AltKeys {
		t = t.WithAlt()
	}
	var all []Problem
	for _, b := range []struct {
		mode Mode
		keys map[string]string
	}{{Normal, s.Keys}, {Copy, s.CopyKeys}, {Chat, s.ChatKeys}, {Reading, s.ReadingKeys}} {
		if len(b.keys) > 0 {
			var problems []Problem
			t, problems = t.Override(b.mode, b.keys, check)
			all = append(all, problems...)
		}
	}
	return t, all, nil
}

// faults are what is wrong with the user's bindings.
func (s *Selection) faults(check func(name string, args []string) error) []option.Fault {
	if len(s.Keys)+len(s.CopyKeys)+len(s.ChatKeys)+len(s.ReadingKeys) == 0 {
		return nil
	}
	_, problems, _ := s.Table(check) // what else is wrong is said of the other options
	faults := make([]option.Fault, len(problems))
	for i, p := range problems {
		table := map[Mode]string{Normal: "keys", Copy: "copy-keys", Chat: "chat-keys", Reading: "reading-keys"}[p.Mode]
		faults[i] = option.Fault{Path: []string{table, p.Keys}, Text: fmt.Sprintf("%s: %.64q: %s", table, p.Keys, p.Text), Warn: p.Warn}
	}
	return faults
}
