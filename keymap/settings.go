package keymap

import (
	"cmp"
	"fmt"
	"strings"

	"tandemux/internal/config/option"
)

// Selection chooses the keys; Options says what each is. The zero Selection is the
// first preset's.
type Selection struct {
	Keymap, Prefix, ModeKeys              string
	AltKeys                               bool
	Keys, CopyKeys, ChatKeys, ReadingKeys map[string]string // chord to "command [args]", or "" to unbind
}

// bindings are the user's bindings in a mode.
type bindings struct {
	mode    Mode
	option  string
	keys    *map[string]string
	doc     string
	example []string
}

func (s *Selection) bindings() []bindings {
	return []bindings{
		{
			Normal, "keys", &s.Keys,
			`Your keys: the keys, and the command with its arguments, or "" for none. Commands: docs/keys.md.`,
			[]string{`"prefix v" = "split-right"`, `"prefix g" = "popup lazygit"`, `"prefix ctrl+l" = "redraw"`, `"alt+enter" = "new-tab"`, `"prefix x" = ""`},
		},
		{Copy, "copy-keys", &s.CopyKeys, "Your keys in copy mode.", []string{`"ctrl+j" = "copy-yank"`}},
		{Chat, "chat-keys", &s.ChatKeys, "Your keys in the prompt of a chat.", []string{`"ctrl+x" = "chat-steer"`}},
		{Reading, "reading-keys", &s.ReadingKeys, "Your keys in the transcript of a chat.", []string{`"x" = "chat-fold"`}},
	}
}

// Options gives the options, which keep their values in s. check is Override's.
func (s *Selection) Options(check func(name string, args []string) error) []option.Option {
	options := []option.Option{
		{
			Name: "keymap", Value: option.Default(&s.Keymap, Presets()[0]), Choices: Presets(),
			Doc: `The preset of keys: docs/keys.md.`,
		},
		{
			Name: "prefix", Value: &s.Prefix,
			Doc:   `Another prefix key than the preset's, such as "ctrl+a".`,
			Check: option.Faulty(func() error { _, err := s.prefix(); return err }),
		},
		{
			Name: "alt-keys", Value: &s.AltKeys,
			Doc: `Keys with alt work without the prefix; programs don't get them then.`,
		},
		{
			Name: "mode-keys", Value: option.Default(&s.ModeKeys, ModeKeys()[0]), Choices: ModeKeys(),
			Doc: `The keys of copy mode.`,
		},
	}
	for _, b := range s.bindings() {
		options = append(options, option.Option{Name: b.option, Value: b.keys, Doc: b.doc, Example: b.example, Check: func() []option.Fault { return s.faults(b, check) }})
	}
	return options
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

// Preset is the preset that was chosen.
func (s *Selection) Preset() (t Table, ok bool) { return Preset(cmp.Or(s.Keymap, Presets()[0])) }

// Table makes the binding table, with what is wrong with the user's bindings.
func (s *Selection) Table(check func(name string, args []string) error) (Table, []Problem, error) {
	t, ok := s.Preset()
	if !ok {
		return t, nil, fmt.Errorf("choose keymap: there is no preset %q: use one of %s", s.Keymap, strings.Join(Presets(), ", "))
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
	for _, b := range s.bindings() {
		var problems []Problem
		t, problems = t.Override(b.mode, *b.keys, check)
		all = append(all, problems...)
	}
	return t, all, nil
}

// faults are what is wrong with the user's bindings in a mode.
func (s *Selection) faults(b bindings, check func(name string, args []string) error) (faults []option.Fault) {
	if len(*b.keys) == 0 {
		return nil
	}
	_, problems, _ := s.Table(check) // what else is wrong is said of the other options
	for _, p := range problems {
		if p.Mode == b.mode {
			faults = append(faults, option.Fault{Path: []string{b.option, p.Keys}, Text: fmt.Sprintf("%s: %.64q: %s", b.option, p.Keys, p.Text), Warn: p.Warn})
		}
	}
	return faults
}
