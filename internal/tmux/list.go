package tmux

import (
	"cmp"
	"errors"
	"strings"

	"tandemux/ui/layout"
)

// list prints places that a filter lets pass; whole and part say of what.
func (a *answerer) list(c call, format string, places []spot) error {
	format = cmp.Or(c.value('F'), format)
	areas := map[*window]layout.Rect{}
	for _, at := range places {
		v := view{spot: at}
		if measured(format + c.value('f')) {
			if _, known := areas[at.window]; !known {
				r, err := a.area(at)
				if err != nil {
					return err
				}
				areas[at.window] = r
			}
			v.area = areas[at.window]
		}
		if f := c.value('f'); f != "" {
			yes, err := v.expand(f, 0)
			if err != nil {
				return err
			}
			if !truth(yes) {
				continue
			}
		}
		text, err := v.expand(format, 0)
		if err != nil {
			return err
		}
		if _, err := a.out.WriteString(text + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// focused is a window with the pane that has its focus.
func focused(s *session, w *window) spot {
	for i := range w.panes {
		if w.panes[i].active {
			return spot{s, w, &w.panes[i]}
		}
	}
	return spot{s, w, &w.panes[0]}
}

// every gives the places of a world, the windows with their focused pane, that are so.
func (w *world) every(panes bool, is func(spot) bool) (all []spot) {
	for i := range w.sessions {
		s := &w.sessions[i]
		for j := range s.windows {
			win := &s.windows[j]
			if !panes {
				if at := focused(s, win); is(at) {
					all = append(all, at)
				}
				continue
			}
			for k := range win.panes {
				if at := (spot{s, win, &win.panes[k]}); is(at) {
					all = append(all, at)
				}
			}
		}
	}
	return all
}

func (a *answerer) listPanes(c call) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	const line = "#{pane_index}: [#{pane_width}x#{pane_height}] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}"
	if c.has('a') {
		return a.list(c, "#{session_name}:#{window_index}."+line, w.every(true, func(spot) bool { return true }))
	}
	at, err := w.target(c.value('t'))
	if err != nil {
		return err
	}
	return a.list(c, line, w.every(true, func(o spot) bool { return o.session == at.session && (c.has('s') || o.window == at.window) }))
}

func (a *answerer) listWindows(c call) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	const line = "#{window_index}: #{window_name} (#{window_panes} panes) [#{window_width}x#{window_height}] #{window_id}#{?window_active, (active),}"
	if c.has('a') {
		return a.list(c, "#{session_name}:"+line, w.every(false, func(spot) bool { return true }))
	}
	s, err := w.session(strings.TrimSuffix(c.value('t'), ":"))
	if err != nil {
		return err
	}
	return a.list(c, line, w.every(false, func(o spot) bool { return o.session == s }))
}

func (a *answerer) listSessions(c call) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	return a.list(c, "#{session_name}: #{session_windows} windows", w.every(false, func(o spot) bool { return o.window == &o.session.windows[0] }))
}

// displayMessage prints a format; without -p it would be shown to the person, for whom
// notifications are.
func (a *answerer) displayMessage(c call, at spot) error {
	if !c.has('p') {
		return errors.New("display-message without -p: " + unknown)
	}
	format := c.value('F')
	if len(c.args) > 0 {
		format = c.args[0]
	}
	format = cmp.Or(format, "[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index}")
	if c.has('l') {
		_, err := a.out.WriteString(format + "\n")
		return err
	}
	return a.print(at, format)
}
