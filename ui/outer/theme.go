package outer

import (
	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/tty"
)

// depths is the values of look.Appearance.Colors.
var depths = map[string]emulator.Depth{
	"none": emulator.NoColors, "16": emulator.Colors16, "256": emulator.Colors256, "true": emulator.TrueColor,
}

// bend applies the person's settings to the terminal's capabilities.
func (c Settings) bend(caps tty.Caps) tty.Caps {
	if depth, ok := depths[c.Colors]; ok {
		caps.Profile.Colors = depth
	}
	switch c.Unicode {
	case "on":
		caps.UTF8 = true
	case "off":
		caps.UTF8 = false
	}
	return caps
}

// Refresh updates the look if what it depends on has changed.
func (o *Terminal) Refresh() {
	if o.colors.undressed {
		o.Dress()
	}
}

// Dress computes the look from the settings, the chosen or previewed theme, whether the terminal
// is dark, and its capabilities.
func (o *Terminal) Dress() {
	o.colors.undressed = false
	s := o.settings()
	caps := s.bend(o.Caps)
	pair := o.theme.chosen
	if o.theme.preview != nil {
		pair = *o.theme.preview
	}
	t := pair.For(o.colors.shade != light)
	if caps.Profile.Colors == emulator.Colors16 && !basic(t) {
		// The nearest of sixteen colours can be the same for a text and its background.
		t, _ = themes.Find(themes.Terminal)
	}
	o.Look = look.New(t.On(o.colors.shown), caps.UTF8, caps.Profile.Colors != emulator.NoColors)
	if o.Signs = nil; !s.NoMarks {
		o.Signs = signLook(&o.Look)
	}
	how := s.pictures(caps)
	o.Gallery.Switch(galleryOf(how, caps))
	o.colors.shown.Pictures = o.Gallery.On()
	o.painter.SetOptions(paint.Options{Profile: caps.Profile, Sync: caps.Sync, ASCII: !caps.UTF8, Clusters: caps.Clusters, Blank: how != tty.CellPictures})
	o.loop.Dirty |= loop.Places | loop.Chrome
}

// basic reports whether a theme uses only the outer terminal's own colours.
func basic(t themes.Theme) bool {
	_, _, _, rgb := t.StatusBg.RGB()
	_, _, _, rgbText := t.Foreground.RGB()
	return !rgb && !rgbText
}

func (o *Terminal) UseTheme(p themes.Pair) {
	o.theme.chosen, o.theme.preview = p, nil
	o.Dress()
}

// EndPreview returns to the chosen theme.
func (o *Terminal) EndPreview() {
	if o.theme.preview != nil {
		o.theme.preview = nil
		o.Dress()
	}
}

// Preview shows a theme until EndPreview or UseTheme.
func (o *Terminal) Preview(p themes.Pair) {
	o.theme.preview = &p
	o.Dress()
}

// signLook returns the look of commands' marks.
func signLook(l *look.Look) *pane.SignLook {
	s := &pane.SignLook{Fold: l.Folded, Sticky: l.Hint, Ellipsis: l.Ellipsis}
	for _, of := range [...]struct {
		state pane.State
		glyph rune
		frame look.Style
	}{
		{pane.Running, l.Running, l.MarkRunning},
		{pane.Passed, l.Passed, l.MarkPassed},
		{pane.Failed, l.Failed, l.MarkFailed},
		{pane.Ended, l.Ended, l.Exited},
	} {
		s.Glyphs[of.state], s.Frame[of.state], s.Note[of.state] = of.glyph, of.frame, of.frame
		s.Cell[of.state] = of.frame
	}
	// Passed commands are not conspicuous.
	s.Note[pane.Passed] = l.Title
	s.Note[pane.Failed] = l.Fail // it has the contrast of text
	return s
}

// Theme returns the name of the chosen themes.
func (o *Terminal) Theme() string { return o.theme.chosen.Name }
