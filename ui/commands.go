package ui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/ui/command"
	"tandemux/ui/keys"
	"tandemux/ui/layout"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/tty"
	"tandemux/ui/typing"
	"tandemux/ui/words"
)

// action is what a command does. It is called only if the command can run now.
type action = func(m *Model, args []string)

// commands returns the actions of the commands in ui/command's table, by name. A test checks that
// none is missing.
func (m *Model) commands() map[string]command.Do {
	all := m.panes.Commands()
	maps.Copy(all, m.agents.Commands())
	maps.Copy(all, m.copying.Commands())
	maps.Copy(all, m.control.Commands())
	maps.Copy(all, command.Bind(m, ownActions))
	return all
}

// ownActions is the actions of commands about the interface itself.
var ownActions = map[string]action{
	"next-alert":  func(m *Model, _ []string) { m.alerts.Next() },
	"send-prefix": func(m *Model, _ []string) { m.typing.Key(keys.PressOf(m.keys.Prefix()), false) },

	"detach":        func(m *Model, _ []string) { m.detach() },
	"palette":       func(m *Model, _ []string) { m.keys.OpenPalette() },
	"help":          func(m *Model, _ []string) { m.keys.OpenHelp() },
	"menu":          func(m *Model, args []string) { m.menuHere(args[0]) },
	"messages":      func(m *Model, _ []string) { m.loop.OpenMessages() },
	"pane-info":     func(m *Model, _ []string) { m.loop.Say(status.Info, "%s", m.paneInfo()) },
	"suspend":       func(m *Model, _ []string) { m.outer.Suspend() },
	"redraw":        func(m *Model, _ []string) { m.outer.Redraw() },
	"reload-config": func(m *Model, _ []string) { m.reload(true) },
	"choose-theme":  func(m *Model, args []string) { m.chooseTheme(args) },
	"record": func(m *Model, args []string) {
		if _, t, _ := m.panes.Focused(); t != nil {
			m.recordings.Toggle(t.URI, t.Exited(), args)
		}
	},
	"stop": func(m *Model, _ []string) { m.stop() },
}

// run runs a command by its name. If the command can't run now, run says why.
func (m *Model) run(name string, args []string) {
	if err := command.Check(name, args); err != nil {
		m.loop.Say(status.Warning, "%v", err)
		return
	}
	if why := m.perform(name, args); why != "" {
		own, _ := command.Cut(args)
		_, title, _ := command.Describe(name, own)
		m.loop.Say(status.Info, "%s: %s", title, why)
	}
}

// perform runs a command whose arguments were checked. It returns why the command can't run now,
// "" if it could.
func (m *Model) perform(name string, args []string) (why string) {
	own, next := command.Cut(args)
	if !m.agents.Do(name) {
		if why := command.Why(name, own, m.context()); why != "" {
			return why
		}
		if do := m.actions[name]; do != nil {
			do(own)
		}
	}
	if len(next) > 0 {
		m.read(tty.Input{after(next)})
	}
	return ""
}

// after is the message for a command line that follows other commands. It waits for the terminals
// that they create.
type after []string

// context returns what decides which commands can run.
func (m *Model) context() command.Context {
	c := m.panes.Context()
	c.Connected, c.Buffers = m.link.Up(), m.clip.Len()
	c.Chat = m.agents.Focused() != nil
	if c.Tabs > 0 {
		_, t, _ := m.panes.Focused()
		c.Alerts, c.Asked = m.alerts.Any(), m.agents.Asked()
		c.Linked = c.Chat || t != nil && m.agents.ChatOf(t) != ""
	}
	return c
}

// reload reads the configuration again. If it has a mistake the old configuration stays. Unless
// the person asked for it, an unchanged configuration is not mentioned.
func (m *Model) reload(asked bool) {
	if m.cfg.Reload == nil {
		m.loop.Say(status.Info, "there is no configuration to read again")
		return
	}
	m.relist()
	c, err := m.cfg.Reload()
	if err == nil && !asked && m.line.misread == "" && len(c.Later) == 0 && c.Warnings == 0 && reflect.DeepEqual(c.Look, m.cfg.Look) {
		return
	}
	if err == nil {
		err = m.adopt(c.Look)
	}
	m.line.misread = ""
	if err != nil {
		err = oneLine(err)
		m.line.misread = words.Clean(err.Error())
		m.loop.Fail("read configuration", err)
		return
	}
	text := "configuration read"
	if len(c.Later) > 0 {
		text += "; " + strings.Join(c.Later, ", ") + " in new terminals"
	}
	if c.Warnings > 0 {
		m.loop.Say(status.Warning, "%s; %s, see tandemux config check", text, words.Plural(c.Warnings, "warning"))
		return
	}
	m.loop.Say(status.Info, "%s", text)
}

// adopt applies another configuration, or none of it if it is wrong.
func (m *Model) adopt(l Look) error {
	next := m.cfg
	next.Look, next.Misread = l, nil
	chosen, err := next.choose()
	if err != nil {
		return err
	}
	changed := m.cfg.Theme != l.Theme || !slices.Equal(m.cfg.Themes, l.Themes)
	m.cfg, m.line.line = next, chosen.line
	m.keys.Use(chosen.keys)
	m.alerts.Settings, m.alerts.Stale = chosen.alerts, true
	m.link.Sink.LimitHistory(l.Scrollback)
	m.apply()
	if changed {
		m.outer.UseTheme(chosen.themes)
	} else {
		m.outer.Dress()
	}
	m.outer.Redraw()
	return nil
}

// apply sets the parts' fields that come from the configuration.
func (m *Model) apply() {
	m.copying.Separators, m.copying.LeaveSelected = m.cfg.WordSeparators, bool(m.cfg.NoCopyOnSelect)
	m.screen.Sticky = stickies[m.cfg.StickyCommand]
	m.typing.Predicting = typing.Predicts[m.cfg.PredictEcho]
}

// oneLine returns the first line of an error and the number of further lines.
func oneLine(err error) error {
	first, rest, more := strings.Cut(err.Error(), "\n")
	if !more {
		return err
	}
	return fmt.Errorf("%s (and %d more: tandemux config check)", first, strings.Count(rest, "\n")+1)
}

// detach leaves the interface. It says that everything runs on only if the host is connected.
func (m *Model) detach() {
	note := "detached; everything runs on"
	if !m.link.Up() {
		note = "detached; the host was not reached any more" + m.typing.Unsent()
	}
	note += m.recordings.Leave()
	m.leave(Exit{Reason: Detached, Note: note})
}

// stop ends the host if the person confirms it.
func (m *Model) stop() {
	running := 0
	for _, t := range m.panes.Terms.ByURI {
		if !t.Exited() && t.Host() == "" {
			running++
		}
	}
	m.loop.Open(overlay.NewConfirm(fmt.Sprintf("stop the host and end %s?", words.Plural(running, "terminal")), func() {
		m.loop.Async("stop the host", func(ctx context.Context) (func(), error) {
			err := m.link.Host.Call(ctx, ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
			if errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("it did not answer")
			}
			return func() {
				if err == nil {
					m.leave(Exit{Reason: Emptied, Note: "the host was stopped"})
				}
			}, err
		})
	}, nil))
}

// anytime is the commands that also run while something is open in the interface.
var anytime = []string{"detach", "suspend", "redraw", "reload-config"}

// asked runs a command that the person sent to this interface from elsewhere, as if its key had
// been pressed. It is refused where a key would mean something else: while an overlay is open or
// the interface asks something. The error says why nothing was done.
func (m *Model) asked(p palette.Params) (done palette.Result, err error) {
	ps := m.panes
	if _, is := m.loop.Overlay.(overlay.Passing); is {
		m.loop.Close() // it makes room
	}
	switch {
	case m.leaving != nil:
		return done, ahp.Conflict("%s: this interface is closing", p.Command)
	case p.Channel != ps.Doc.URI:
		return done, ahp.NotFound("%s: this interface shows layout %s", p.Command, ps.Name)
	case (m.loop.Overlay != nil || m.copying.Asks()) && !slices.Contains(anytime, p.Command):
		return done, ahp.Conflict("%s: something is open in this interface, or it asks something", p.Command)
	case p.KeepFocus || p.With != "":
		return done, ahp.InvalidParams("%s: an interface does it where its focus is: neither keepFocus nor with goes with it", p.Command)
	}
	if err := command.Check(p.Command, p.Args); err != nil {
		return done, ahp.InvalidParams("%v", err)
	}
	if p.Pane != "" {
		id, ok := find(&ps.Doc.Shown, p.Pane)
		if !ok {
			return done, ahp.NotFound("layout %s has no pane %s", ps.Name, p.Pane)
		}
		ps.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(id) })
		ps.Freshen()
	}
	m.loop.Unsay()
	if why := m.perform(p.Command, p.Args); why != "" {
		return done, ahp.Conflict("%s: %s", p.Command, why)
	}
	if q, is := m.loop.Overlay.(*overlay.Confirm); is {
		m.loop.Close()
		if !p.Yes {
			return done, asks(p.Command, q)
		}
		q.Key(yes)
	}
	text, kind := m.loop.Note()
	if text != "" && kind != status.Info {
		return done, ahp.Conflict("%s: %s", p.Command, text)
	}
	done.Said = text
	if i, leaf, ok := ps.Doc.Shown.Find(ps.FocusID()); ok {
		done.Tab, done.Pane, done.Terminal = ps.Doc.Shown.Tabs[i].ID, string(ps.FocusID()), leaf.Terminal
	}
	return done, nil
}
