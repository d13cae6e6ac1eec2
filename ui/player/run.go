package player

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/tty"
)

// Run plays a recording on the terminal in and out until a key quits it or the context ends. The
// terminal is restored when it returns.
func Run(ctx context.Context, rec Recording, o Options, in, out *os.File, env []string, theme themes.Theme) error {
	term, err := tty.Open(in, out, env)
	if err != nil {
		return err
	}
	defer term.Close()
	w, h, err := term.Size()
	if err != nil {
		return err
	}
	s := &shown{term: term, caps: term.Caps(), theme: theme, painter: paint.NewPainter(paint.Options{}), player: New(rec, o)}
	s.canvas.Resize(w, h)
	s.dress()
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	defer signal.Stop(sizes)
	inputs, lost := make(chan tty.Input, 16), make(chan struct{})
	done := make(chan struct{})
	defer close(done)
	defer term.Restore()
	if err := term.Enter(); err != nil {
		return err
	}
	if err := term.Read(func(in tty.Input) {
		select {
		case inputs <- in:
		case <-done:
		}
	}, func(error) { close(lost) }); err != nil {
		return err
	}
	s.player.Play(time.Now())
	return s.loop(ctx, inputs, sizes, lost)
}

type shown struct {
	term    *tty.Terminal
	caps    tty.Caps
	theme   themes.Theme
	look    look.Look
	painter *paint.Painter
	canvas  paint.Canvas
	player  *Player
	buf     []byte
}

func (s *shown) dress() {
	s.look = look.New(s.theme, s.caps.UTF8, s.caps.Profile.Colors != emulator.NoColors)
	s.painter.SetOptions(paint.Options{Profile: s.caps.Profile, Sync: s.caps.Sync, ASCII: !s.caps.UTF8, Clusters: s.caps.Clusters})
}

func (s *shown) loop(ctx context.Context, inputs <-chan tty.Input, sizes <-chan os.Signal, lost <-chan struct{}) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := s.player.Advance(time.Now())
		cur := s.player.Draw(&s.canvas, s.look)
		if s.buf = s.painter.Frame(s.buf[:0], &s.canvas, cur); len(s.buf) > 0 {
			if _, err := s.term.Write(s.buf); err != nil {
				return err
			}
		}
		timer.Stop()
		var due <-chan time.Time
		if wait > 0 {
			timer.Reset(max(wait, paint.FrameInterval))
			due = timer.C
		}
		select {
		case <-ctx.Done():
			return nil
		case <-lost:
			return nil
		case <-due:
		case <-sizes:
			if w, h, err := s.term.Size(); err == nil {
				s.canvas.Resize(w, h)
				s.painter.Forget()
			}
		case in := <-inputs:
			if quit, err := s.take(in); quit || err != nil {
				return err
			}
		}
	}
}

// take handles the messages of one read of the terminal.
func (s *shown) take(in tty.Input) (quit bool, err error) {
	for _, msg := range in {
		switch msg := msg.(type) {
		case tea.KeyPressMsg:
			if s.player.Key(msg.String(), time.Now()) {
				return true, nil
			}
		case tty.Continued:
			if s.player.Key(msg.KeyPressMsg.String(), time.Now()) {
				return true, nil
			}
		default:
			write, changed := s.caps.Learn(msg)
			if write != "" {
				if _, err := s.term.Write([]byte(write)); err != nil {
					return true, err
				}
			}
			if changed {
				s.term.SetCaps(s.caps)
				s.dress()
			}
		}
	}
	return false, nil
}
