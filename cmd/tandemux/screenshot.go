package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/endpoint"
	"tandemux/internal/svg"
)

// screenshot says how a screen is printed.
type screenshot struct {
	svg, light bool
	dark       bool            // rather than as seenIn
	seenIn     *ahp.ReadColors // what the terminal was last seen in; nil if unknown
	history    int             // lines above the screen
	title      string
}

// printScreen prints an emulator's screen as text or as an image.
func printScreen(w io.Writer, em emulator.Emulator, s screenshot) error {
	if !s.svg {
		text := emulator.ScreenText(em)
		_, err := io.WriteString(w, strings.TrimRight(text, "\n")+"\n")
		return err
	}
	o := svg.Options{Title: s.title, Cursor: true, History: s.history}
	switch {
	case s.light:
		o.Palette = &svg.Light
	case s.seenIn != nil && !s.dark:
		o.Palette = paletteOf(s.seenIn)
	}
	_, err := w.Write(svg.Screen(nil, em, o))
	return err
}

// paletteOf makes a palette of colours of which some may be unknown: those are of
// tandemux's palette for the same ground.
func paletteOf(c *ahp.ReadColors) *svg.Palette {
	p := svg.Dark
	if bg, ok := rgbOf(c.BG); ok {
		r, g, b, _ := bg.RGB()
		if 299*int(r)+587*int(g)+114*int(b) > 128*1000 {
			p = svg.Light
		}
	}
	set := func(to *emulator.Color, text string) {
		if v, ok := rgbOf(text); ok {
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

// rgbOf reads "#rrggbb".
func rgbOf(text string) (emulator.Color, bool) {
	if len(text) != 7 || text[0] != '#' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:], 16, 24)
	return emulator.RGB(uint8(n>>16), uint8(n>>8), uint8(n)), err == nil
}

// screenOf builds a terminal's screen from its state, as a pane does.
func screenOf(s *endpoint.Conn, ctx context.Context, t ahp.TerminalInfo) (emulator.Emulator, error) {
	ctx, cancel := context.WithTimeout(ctx, endpoint.CallTimeout)
	defer cancel()
	if err := s.Subscribe(ctx, t.Resource); err != nil {
		return nil, err
	}
	st, ok := s.Mirror.Terminal(t.Resource)
	if !ok {
		return nil, fmt.Errorf("the host does not show terminal %s", endpoint.LastPart(t.Resource))
	}
	em, err := engine.New("", emulator.Options{Cols: max(st.Cols, 1), Rows: max(st.Rows, 1)})
	if err != nil {
		return nil, err
	}
	for i := range st.Content {
		em.Write([]byte(st.Content[i].Text()))
	}
	return em, nil
}
