package ui_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/emulator/input"
	"tandemux/keymap"
	"tandemux/ui"
	"tandemux/ui/keys"
	"tandemux/ui/link"
	"tandemux/ui/outer"
	"tandemux/ui/tty"
)

// Options says what to run. The zero value is 80×24 with the default keys in a
// UTF-8 terminal of 256 colours.
type Options struct {
	W, H   int
	Config func(*ui.Config)
	Env    []string
	Host   func(*Host) // prepares the host before the interface starts
	Silent bool        // the outer terminal answers nothing
	// Pictures: the outer terminal shows pictures (kitty's graphics protocol).
	Pictures bool
	// Suspend is ui.Env's; Send then delivers ui.Resumed.
	Suspend func()
}

// UI is the program around a real ui.Model, without a terminal, a host process or a
// clock: it runs the model's commands, delivers its timers when Advance moves the clock,
// decodes keys' bytes as a keyboard sends them, and shows on an emulator what the painter
// wrote. All of it is on the test's goroutine: when a call returns the interface is idle,
// but for timers.
type UI struct {
	Host  *Host
	Model *ui.Model
	// Written counts the bytes written to the outer terminal, Raw holds them.
	Written int
	Raw     []byte

	t      testing.TB
	sink   *link.Sink
	screen emulator.Emulator
	dec    tty.Decoder
	now    time.Time
	timers []timer
	queue  []tea.Msg
	woken  bool
	quit   bool
	deaf   bool // what is written is counted and no more
	silent bool // the outer terminal answers nothing
	caps   tty.Caps
}

type timer struct {
	at  time.Time
	msg tea.Msg
}

// Engine is the emulator of panes, terminals and the outer terminal.
const Engine = "native"

// epoch is where the clock starts.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// New starts an interface and waits until it shows its first pane.
func New(t testing.TB, o Options) *UI {
	t.Helper()
	u := &UI{t: t, sink: link.NewSink(), now: epoch, silent: o.Silent}
	u.Host = NewHost(t, u.sink)
	if o.Host != nil {
		o.Host(u.Host)
	}
	u.start(o)
	return u
}

// Again starts a second interface on the same host, as after a detach.
func (u *UI) Again(o Options) *UI {
	u.t.Helper()
	n := &UI{t: u.t, sink: link.NewSink(), now: u.now, Host: u.Host}
	n.Host.sink = n.sink
	n.Host.follows = map[string]bool{"ahp-root://": true}
	n.Host.snapshot("ahp-root://", n.Host.root)
	n.start(o)
	return n
}

func (u *UI) start(o Options) {
	u.t.Helper()
	if o.W == 0 {
		o.W, o.H = 80, 24
	}
	if o.Env == nil {
		o.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=/home/ann"}
	}
	screen, err := engine.New(Engine, emulator.Options{Cols: o.W, Rows: o.H, History: -1})
	if err != nil {
		u.t.Fatalf("make screen: %v", err)
	}
	u.screen = screen
	u.screen.SetColors(emulator.Colors{Pictures: o.Pictures})
	u.caps = tty.Guess(o.Env)
	cfg := ui.Config{Host: u.Host, Sink: u.sink, Cwd: "/home/ann", Env: o.Env, Engine: Engine}
	if o.Config != nil {
		o.Config(&cfg)
	}
	m, err := ui.New(cfg, ui.Env{
		Env:  outer.Env{Write: u.write, Suspend: o.Suspend},
		Caps: u.caps, Now: func() time.Time { return u.now },
		After: func(d time.Duration, msg tea.Msg) { u.timers = append(u.timers, timer{u.now.Add(d), msg}) },
		Wake:  func() { u.woken = true },
	})
	if err != nil {
		u.t.Fatalf("start interface: %v", err)
	}
	u.Model = m
	u.write([]byte(tty.EnterSequence(u.caps)))
	u.perform(m.Init())
	u.queue = append(u.queue, tea.WindowSizeMsg{Width: o.W, Height: o.H})
	u.WaitIdle()
}

// write is the outer terminal: it shows what it gets and answers.
func (u *UI) write(p []byte) {
	u.Written += len(p)
	if u.deaf {
		return
	}
	u.Raw = append(u.Raw, p...)
	u.screen.Write(p)
	for _, ev := range u.screen.Events() {
		if ev.Kind == emulator.EventReply && !u.silent {
			u.read(ev.Text)
		}
	}
}

// read delivers bytes of the outer terminal.
func (u *UI) read(s string) {
	u.dec.Expecting = true
	in, more := u.dec.Feed([]byte(s), false)
	if more {
		in = append(in, u.dec.Flush()...)
	}
	if len(in) > 0 {
		u.queue = append(u.queue, in)
	}
}

// pump handles messages until there are none.
func (u *UI) pump() {
	u.t.Helper()
	for n := 0; len(u.queue) > 0 || u.woken; n++ {
		if n > 10000 {
			u.t.Fatal("the interface never comes to rest")
		}
		var msg tea.Msg = ui.Wake{}
		if u.woken {
			u.woken = false
		} else {
			msg, u.queue = u.queue[0], u.queue[1:]
		}
		_, cmd := u.Model.Update(msg)
		u.perform(cmd)
	}
}

// perform runs a command, and those in a batch, in place; while the host is
// held, when it is let go.
func (u *UI) perform(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if u.Host.holding {
		u.Host.held = append(u.Host.held, func() { u.perform(cmd) })
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.QuitMsg:
		u.quit = true
	case tea.BatchMsg:
		for _, c := range msg {
			u.perform(c)
		}
	default:
		if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
			for i := range v.Len() {
				u.perform(v.Index(i).Interface().(tea.Cmd))
			}
			return
		}
		u.queue = append(u.queue, msg)
	}
}

// Advance moves the clock, delivering the timers that run out in order.
func (u *UI) Advance(d time.Duration) {
	u.t.Helper()
	end := u.now.Add(d)
	u.pump()
	for {
		next := -1
		for i, t := range u.timers {
			if !t.at.After(end) && (next < 0 || t.at.Before(u.timers[next].at)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		t := u.timers[next]
		u.timers = slices.Delete(u.timers, next, next+1)
		if t.at.After(u.now) {
			u.now = t.at
		}
		u.queue = append(u.queue, t.msg)
		u.pump()
	}
	u.now = end
	u.Host.Now = end.UnixMilli()
}

// WaitIdle handles everything that is under way, up to the frame's end.
func (u *UI) WaitIdle() {
	u.t.Helper()
	u.Advance(10 * time.Millisecond)
}

// Press presses keys as a keyboard would, such as "ctrl+space |".
func (u *UI) Press(chords ...string) {
	u.t.Helper()
	for _, chord := range chords {
		for _, name := range strings.Fields(chord) {
			k, err := keymap.Parse(name)
			if err != nil {
				u.t.Fatalf("press %q: %v", name, err)
			}
			u.read(string(input.AppendKey(nil, keys.PressOf(k), input.Press, u.keyboard())))
			u.WaitIdle()
		}
	}
}

// keyboard is how the outer terminal writes keys now.
func (u *UI) keyboard() emulator.Modes {
	m := u.screen.Modes()
	return emulator.Modes{Kitty: m.Kitty, ModifyOtherKeys: m.ModifyOtherKeys}
}

// Type types text.
func (u *UI) Type(text string) {
	u.t.Helper()
	for _, r := range text {
		u.read(string(r))
	}
	u.WaitIdle()
}

// Read delivers raw bytes of the outer terminal.
func (u *UI) Read(s string) {
	u.t.Helper()
	u.read(s)
	u.WaitIdle()
}

// Paste pastes text.
func (u *UI) Paste(text string) {
	u.t.Helper()
	u.Read("\x1b[200~" + text + "\x1b[201~")
}

// Mouse does something with the mouse at a cell counted from 0.
func (u *UI) Mouse(kind input.MouseKind, b tea.MouseButton, x, y int) {
	u.t.Helper()
	modes := emulator.Modes{Mouse: emulator.MouseAny, MouseEncoding: emulator.MouseSGR}
	u.Read(string(input.AppendMouse(nil, input.MouseEvent{Mouse: tea.Mouse{X: x, Y: y, Button: b}, Kind: kind}, modes)))
}

// Click presses and releases the left button.
func (u *UI) Click(x, y int) {
	u.t.Helper()
	u.Mouse(input.MousePress, tea.MouseLeft, x, y)
	u.Mouse(input.MouseRelease, tea.MouseLeft, x, y)
}

// Drag moves the mouse with the left button pressed.
func (u *UI) Drag(x0, y0, x1, y1 int) {
	u.t.Helper()
	u.Mouse(input.MousePress, tea.MouseLeft, x0, y0)
	u.Mouse(input.MouseMotion, tea.MouseLeft, x1, y1)
	u.Mouse(input.MouseRelease, tea.MouseLeft, x1, y1)
}

// Wheel turns the wheel by a notch.
func (u *UI) Wheel(up bool, x, y int) {
	u.t.Helper()
	b := tea.MouseWheelDown
	if up {
		b = tea.MouseWheelUp
	}
	u.Mouse(input.MouseWheel, b, x, y)
}

// Resize gives the outer terminal another size.
func (u *UI) Resize(w, h int) {
	u.t.Helper()
	u.screen.Resize(w, h)
	u.queue = append(u.queue, tea.WindowSizeMsg{Width: w, Height: h})
	u.WaitIdle()
}

// Screen is what the outer terminal shows as text, rows joined by line ends.
func (u *UI) Screen() string { return emulator.ScreenText(u.screen) }

// Row is a row of the screen; negative ones count from the bottom.
func (u *UI) Row(y int) string {
	rows := strings.Split(u.Screen(), "\n")
	if y < 0 {
		y += len(rows)
	}
	return rows[y]
}

// Outer is the outer terminal.
func (u *UI) Outer() emulator.Emulator { return u.screen }

// Shows fails the test unless the screen shows all of the texts.
func (u *UI) Shows(texts ...string) {
	u.t.Helper()
	screen := u.Screen()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			u.t.Fatalf("the screen does not show %q:\n%s", s, screen)
		}
	}
}

// Hides fails the test if the screen shows any of the texts.
func (u *UI) Hides(texts ...string) {
	u.t.Helper()
	screen := u.Screen()
	for _, s := range texts {
		if strings.Contains(screen, s) {
			u.t.Fatalf("the screen shows %q:\n%s", s, screen)
		}
	}
}

// Ended reports whether the interface has ended, and how.
func (u *UI) Ended() (ui.Exit, bool) { return u.Model.Exit(), u.quit }

// Timers is the number of timers that run.
func (u *UI) Timers() int { return len(u.timers) }

// ReadSoon delivers raw bytes that follow closely on those before.
func (u *UI) ReadSoon(s string) {
	u.t.Helper()
	in, _ := u.dec.Feed([]byte(s), true)
	u.queue = append(u.queue, in)
	u.WaitIdle()
}

// ReadAtOnce delivers raw bytes and lets no time pass.
func (u *UI) ReadAtOnce(s string) {
	u.t.Helper()
	u.read(s)
	u.Advance(0)
}

// Write writes to the outer terminal behind the interface's back.
func (u *UI) Write(s string) { u.write([]byte(s)) }

// LeaveSequence is what would be written now to restore the outer terminal.
func (u *UI) LeaveSequence() string { return tty.LeaveSequence(u.Model.Outer().Caps) }

// Send delivers a message.
func (u *UI) Send(msg tea.Msg) {
	u.t.Helper()
	u.queue = append(u.queue, msg)
	u.WaitIdle()
}

// Silence makes the outer terminal answer nothing, or answer again.
func (u *UI) Silence(on bool) { u.silent = on }

// SetColors gives the outer terminal other colours, which it reports as it was
// asked to (mode 2031).
func (u *UI) SetColors(c emulator.Colors) {
	u.t.Helper()
	u.screen.SetColors(c)
	u.write(nil)
	u.WaitIdle()
}
