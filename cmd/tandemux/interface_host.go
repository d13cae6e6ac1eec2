package main

import (
	"slices"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui"
	"tandemux/ui/command"
)

// interfaceOf is the host's for x-tandemux/interface.
func interfaceOf(now func() *ui.Look) func(programs bool) (palette.Interface, error) {
	return func(programs bool) (palette.Interface, error) {
		look := now()
		keys, _, err := look.Selection.Table(command.Check)
		if err != nil {
			keys, _ = keymap.Preset(keymap.Presets()[0]) // what is wrong is for the interface to say
		}
		pair, err := themes.Choose(look.Theme, look.Themes)
		if err != nil {
			if pair, err = themes.Choose(themes.Auto, nil); err != nil {
				return palette.Interface{}, ahp.Conflict("choose theme: %v", err)
			}
		}
		r := palette.Interface{
			Prefix: keys.Prefix().String(), Keys: []palette.Binding{}, CommandMarks: !bool(look.NoCommandMarks),
			Dark: themeColors(pair.Dark), Light: themeColors(pair.Light),
		}
		for _, b := range keys.Bindings() {
			if !programs && starts(b) {
				continue
			}
			r.Keys = append(r.Keys, palette.Binding{Mode: b.Mode.String(), Keys: b.Keys, Command: b.Command, Args: b.Args, Repeat: b.Repeat})
		}
		does := ui.Doable()
		for _, c := range command.All() {
			i := slices.IndexFunc(does, func(d command.Command) bool { return d.Name == c.Name })
			if i >= 0 {
				c = does[i]
			}
			r.Commands = append(r.Commands, palette.Command{Name: c.Name, Title: c.Title, Group: c.Group, Help: c.Help, Args: argWords(c), Do: i >= 0})
		}
		return r, nil
	}
}

// starts reports whether a key runs a program of its user's.
func starts(b keymap.Binding) bool {
	own, next := command.Cut(b.Args)
	c, ok := command.Find(b.Command)
	n := len(c.Args)
	return !ok || len(next) > 0 || n > 0 && c.Args[n-1].Kind == command.Program && len(own) >= n
}

func themeColors(t themes.Theme) palette.Theme {
	r := palette.Theme{Name: t.Name, Dark: t.Dark, Colors: map[string]string{}}
	for name, c := range t.Colors.All() {
		r.Colors[name] = themes.Spell(c)
	}
	return r
}
