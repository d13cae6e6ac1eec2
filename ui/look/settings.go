package look

import (
	"tandemux/internal/config/option"
	"tandemux/themes"
)

// Appearance chooses how things look.
type Appearance struct {
	Theme    string         // a choice of themes (themes.Choose)
	Themes   []themes.Theme // the user's own
	Colors   string         // "none", "16", "256" or "true"; else as many as the outer terminal has
	Unicode  string         // "on" or "off"; else as the locale says
	Graphics string         // how pictures show (tty.Pictures), "" as the outer terminal says
}

// Options gives the options, which keep their values in s.
func (s *Appearance) Options() []option.Option {
	return []option.Option{
		{
			Name: "theme", Value: option.Default(&s.Theme, themes.Auto),
			Doc: `The colours: "auto" is tandemux's own, dark or light as your terminal is, also while it changes. ` +
				`A family such as "nord" follows your terminal, a theme such as "nord-dark" does not, ` +
				`"dark:nord-dark,light:gruvbox-light" names one for each, and "terminal" uses your terminal's own sixteen colours. ` +
				`Your own themes are files in the directory themes beside this file. The command choose-theme shows them all.`,
			Check: option.Faulty(func() error {
				if s.Theme == themes.Auto {
					return nil // which is there, and need not be read for that
				}
				_, err := themes.Choose(s.Theme, s.Themes)
				return err
			}),
		},
		{
			Name: "colors", Value: option.Default(&s.Colors, "auto"), Choices: []string{"auto", "none", "16", "256", "true"},
			Doc: `How many colours your terminal has, when what it says of itself ("auto") is wrong. ` +
				`With 16 the theme "terminal" stands in for others; NO_COLOR in the environment is "none".`,
		},
		{
			Name: "unicode", Value: option.Default(&s.Unicode, "auto"), Choices: []string{"auto", "on", "off"},
			Doc: `Whether lines and marks may be other characters than ASCII; "auto" is as the locale says (LC_ALL, LC_CTYPE, LANG).`,
		},
		{
			Name: "graphics", Value: option.Default(&s.Graphics, "auto"), Choices: []string{"auto", "cells", "placed", "off"},
			Doc: `How pictures of the kitty graphics protocol show: "auto" is as the terminal says, "cells" by characters that stand for them ` +
				`(kitty since 0.28, Ghostty), "placed" over blank cells (WezTerm, Konsole), "off" as boxes.`,
		},
	}
}
