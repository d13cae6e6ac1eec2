package capture

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/endpoint"
	"tandemux/internal/svg"
)

// Picture says how a screen is printed.
type Picture struct {
	SVG, Light bool
	Dark       bool            // rather than as seenIn
	SeenIn     *ahp.ReadColors // what the terminal was last seen in; nil if unknown
	History    int             // lines above the screen
	Title      string
}

// Print prints an emulator's screen as text or as an image.
func Print(w io.Writer, em emulator.Emulator, s Picture) error {
	if !s.SVG {
		text := emulator.ScreenText(em)
		_, err := io.WriteString(w, strings.TrimRight(text, "\n")+"\n")
		return err
	}
	o := svg.Options{Title: s.Title, Cursor: true, History: s.History}
	switch {
	case s.Light:
		o.Colors = &svg.Light
	case s.SeenIn != nil && !s.Dark:
		o.Colors = paletteOf(s.SeenIn)
	}
	_, err := w.Write(svg.Screen(nil, em, o))
	return err
}

// paletteOf makes a palette of colours of which some may be unknown: those are of
// tandemux's palette for the same ground.
func paletteOf(c *ahp.ReadColors) *emulator.Colors {
	p := svg.Dark
	if bg, ok := emulator.ParseColor(c.BG); ok && !(emulator.Colors{BG: bg}).Dark() {
		p = svg.Light
	}
	set := func(to *emulator.Color, text string) {
		if v, ok := emulator.ParseColor(text); ok {
			*to = v
		}
	}
	set(&p.FG, c.FG)
	set(&p.BG, c.BG)
	set(&p.Cursor, c.Cursor)
	for i, text := range c.Palette[:min(len(c.Palette), len(p.Indexed))] {
		set(&p.Indexed[i], text)
	}
	return &p
}

// Screen builds a terminal's screen from its state, as a pane does. history is as
// in emulator.Options.
func Screen(ctx context.Context, s *endpoint.Conn, uri ahp.URI, history int) (emulator.Emulator, error) {
	ctx, cancel := context.WithTimeout(ctx, endpoint.CallTimeout)
	defer cancel()
	if err := s.Subscribe(ctx, uri); err != nil {
		return nil, fmt.Errorf("look at %s: %w", endpoint.LastPart(uri), err)
	}
	defer s.Unsubscribe(uri)
	st, ok := s.Mirror.Terminal(uri)
	if !ok {
		return nil, fmt.Errorf("the host does not show terminal %s", endpoint.LastPart(uri))
	}
	return emulated(&st, history)
}

// emulated is a terminal's state in an emulator.
func emulated(st *ahp.TerminalState, history int) (emulator.Emulator, error) {
	em, err := engine.New("", emulator.Options{Cols: max(st.Cols, 1), Rows: max(st.Rows, 1), History: history})
	if err != nil {
		return nil, err
	}
	for i := range st.Content {
		em.Write([]byte(st.Content[i].Text()))
	}
	return em, nil
}
