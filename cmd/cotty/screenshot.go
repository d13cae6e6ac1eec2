package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"cotty/ahp"
	"cotty/emulator"
	"cotty/emulator/engine"
	"cotty/internal/svg"
)

// screenshot says how a screen is printed.
type screenshot struct {
	svg, light bool
	history    int // lines above the screen
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
	if s.light {
		o.Palette = &svg.Light
	}
	_, err := w.Write(svg.Screen(nil, em, o))
	return err
}

// screenOf builds a terminal's screen from its state, as a pane does.
func (s *session) screenOf(ctx context.Context, t ahp.TerminalInfo) (emulator.Emulator, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := s.Subscribe(ctx, t.Resource); err != nil {
		return nil, err
	}
	st, ok := s.mirror.Terminal(t.Resource)
	if !ok {
		return nil, fmt.Errorf("the host does not show terminal %s", lastPart(t.Resource))
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
