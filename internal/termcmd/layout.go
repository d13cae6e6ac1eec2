package termcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/ui/layout"
)

// DefaultLayout is the layout that `tandemux` opens.
const DefaultLayout = "main"

// LayoutURI is the channel of a layout.
func LayoutURI(name string) ahp.URI { return ahp.LayoutScheme + "/" + name }

// CheckLayoutName keeps names to what is one part of a URI and easy to type.
func CheckLayoutName(name string) error {
	const most = 64
	ok := name != "" && len(name) <= most && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	}) < 0
	if !ok {
		return cli.Usagef("%q is no name for a layout; use up to %d letters, digits, dots, dashes and underscores", name, most)
	}
	return nil
}

// ReadLayout gives the newest state of a layout and its revision; the caller
// unsubscribes from the channel.
func ReadLayout(s *endpoint.Conn, ctx context.Context, channel ahp.URI) (l layout.Layout, rev int64, err error) {
	if err := s.Subscribe(ctx, channel); err != nil {
		return l, 0, err
	}
	state, ok := s.Mirror.Layout(channel)
	switch {
	case !ok:
		err = fmt.Errorf("the host gave no state for %s", channel)
	case state.Rev == 0:
		l = layout.New(endpoint.LastPart(channel))
	default:
		if l, err = layout.Decode(state.Doc); err != nil {
			err = fmt.Errorf("read layout %s: %w", endpoint.LastPart(channel), err)
		}
	}
	return l, state.Rev, err
}

// EditLayout applies op to the newest state of a layout; when another client
// was faster it tries again on what that one left.
func EditLayout(s *endpoint.Conn, ctx context.Context, channel ahp.URI, op func(layout.Layout) (layout.Layout, error)) error {
	const tries = 8
	ctx, cancel := context.WithTimeout(ctx, endpoint.CallTimeout)
	defer cancel()
	defer s.Unsubscribe(channel)
	for range tries {
		l, rev, err := ReadLayout(s, ctx, channel)
		if err == nil {
			l, err = op(l)
		}
		if err != nil {
			return err
		}
		next := ahp.LayoutChanged{Rev: rev + 1, Doc: l.Encode(), Terminals: l.Terminals()}
		_, err = s.DispatchWait(ctx, channel, next)
		var refused *client.RejectedError
		if !errors.As(err, &refused) {
			return err
		}
	}
	return errors.New("others keep changing the layout; try again")
}

// showInTab gives a terminal a tab of its own, leaving the focus where it is.
func showInTab(s *endpoint.Conn, ctx context.Context, name string, terminal ahp.URI) error {
	return EditLayout(s, ctx, LayoutURI(name), func(l layout.Layout) (layout.Layout, error) {
		active := l.Active
		l, _, err := l.NewTab(terminal)
		if err != nil || len(l.Tabs) == 1 {
			return l, err
		}
		return l.GoTab(active), nil
	})
}

// hideFromLayouts takes a terminal out of every layout that shows it.
func hideFromLayouts(s *endpoint.Conn, ctx context.Context, t ahp.TerminalInfo) error {
	if t.Meta == nil {
		return nil
	}
	for _, channel := range t.Meta.Layouts {
		err := EditLayout(s, ctx, channel, func(l layout.Layout) (layout.Layout, error) {
			return l.RemoveTerminal(layout.Rect{}, t.Resource), nil
		})
		if err != nil {
			return fmt.Errorf("take %s out of layout %s: %w", endpoint.LastPart(t.Resource), endpoint.LastPart(channel), err)
		}
	}
	return nil
}
