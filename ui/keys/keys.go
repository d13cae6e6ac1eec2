package keys

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
)

// Hooks are what keys have done for them.
type Hooks struct {
	// Mode is the table of bindings that is in force, Context what decides which
	// commands can run.
	Mode    func() keymap.Mode
	Context func() command.Context
	// Run runs a command; Ran is told after that of a binding.
	Run func(name string, args []string)
	Ran func(name string)
	// Look is how things are drawn.
	Look func() *look.Look
	// Learnt says that the person knows the prefix key.
	Learnt func()
}

// Keys are the bindings, and what has been pressed of a chord.
type Keys struct {
	table keymap.Table
	loop  *loop.Loop
	do    Hooks

	pending []keymap.Key // of a chord
	hint    bool         // what can follow is shown
	page    int          // of the hint
	chord   int          // number of the chord, so that an old timer is known

	repeat []keymap.Key // all but the last key of a chord that may be repeated
	until  time.Time    // for how long
}

// New makes keys of which none is pressed.
func New(t keymap.Table, l *loop.Loop, do Hooks) *Keys { return &Keys{table: t, loop: l, do: do} }

func (k *Keys) Use(t keymap.Table) { k.table = t }

func (k *Keys) Prefix() keymap.Key { return k.table.Prefix() }

// Pending is what was pressed of a chord, "" for nothing.
func (k *Keys) Pending() string {
	if len(k.pending) == 0 {
		return ""
	}
	return keymap.Chord(k.pending).String()
}

// Hinting reports whether what can follow is shown.
func (k *Keys) Hinting() bool { return k.hint }

// hintTime is how long the prefix has to stand alone until the hint shows what
// can follow.
const hintTime = 500 * time.Millisecond

// Press handles a key as part of a chord and reports whether it was one.
func (k *Keys) Press(key keymap.Key) bool {
	if len(k.pending) == 0 && len(k.repeat) > 0 {
		again := append(k.repeat[:len(k.repeat):len(k.repeat)], key)
		soon := k.loop.Now().Before(k.until)
		if b, match := k.table.Lookup(keymap.Normal, again...); soon && match == keymap.Full && b.Repeat {
			k.runBinding(b)
			return true
		}
		k.repeat = nil
	}
	seq, mode := append(k.pending, key), k.do.Mode()
	b, match := k.table.Lookup(mode, seq...)
	switch match {
	case keymap.Full:
		k.end()
		k.runBinding(b)
	case keymap.Prefix:
		k.start(seq)
	default:
		if len(k.pending) == 0 {
			return mode == keymap.Copy || mode == keymap.Reading // which keep what they don't know
		}
		if k.hint && key.String() == overlay.MoreKey {
			k.page++
			k.loop.Dirty |= loop.Places
			return true
		}
		k.end()
		if key != (keymap.Key{Code: keymap.Esc}) {
			k.loop.Say(status.Info, "%s is bound to nothing", keymap.Chord(seq))
		}
	}
	return true
}

func (k *Keys) start(seq []keymap.Key) {
	k.pending, k.page = seq, 0
	k.chord++
	k.do.Learnt()
	k.loop.Unsay()
	k.loop.Dirty |= loop.Chrome
	if k.hint {
		k.loop.Dirty |= loop.Places
		return
	}
	n := k.chord
	k.loop.After(hintTime, func() {
		if k.chord == n && len(k.pending) > 0 {
			k.hint = true
			k.loop.Dirty |= loop.Chrome
		}
	})
}

func (k *Keys) end() {
	if k.hint {
		k.loop.Dirty |= loop.Places
	}
	k.pending, k.hint = nil, false
	k.chord++
	k.loop.Dirty |= loop.Chrome
}

func (k *Keys) runBinding(b keymap.Binding) {
	k.do.Run(b.Command, b.Args)
	k.do.Ran(b.Command)
	k.repeat = nil
	if b.Repeat {
		k.repeat = b.Chord[:len(b.Chord)-1]
		k.until = k.loop.Now().Add(keymap.RepeatTime)
	}
}

// Of gives the keys that a command is bound to, for people.
func (k *Keys) Of(name string) string {
	if b := k.table.For(name); len(b) > 0 {
		return b[0].Keys
	}
	return ":" + name
}

// Short gives the keys of a command, the prefix left out; "" for none.
func (k *Keys) Short(name string, args ...string) string {
	b := k.table.For(name, args...)
	switch {
	case len(b) == 0:
		return ""
	case len(b[0].Chord) > 1 && b[0].Chord[0] == k.table.Prefix():
		return b[0].Chord[1:].String()
	}
	return b[0].Keys
}

// InChat gives the keys of a command in chats, "" for none.
func (k *Keys) InChat(name string) string {
	keys := ""
	for _, b := range k.table.For(name) {
		if b.Mode == k.do.Mode() {
			return b.Keys
		}
		keys = cmp.Or(keys, b.Keys)
	}
	return keys
}

// namedKeys are Bubble Tea's codes of the keymap's named keys.
var namedKeys = map[rune]rune{
	keymap.Up: tea.KeyUp, keymap.Down: tea.KeyDown, keymap.Right: tea.KeyRight, keymap.Left: tea.KeyLeft,
	keymap.Home: tea.KeyHome, keymap.End: tea.KeyEnd, keymap.PgUp: tea.KeyPgUp, keymap.PgDown: tea.KeyPgDown,
	keymap.Insert: tea.KeyInsert, keymap.Delete: tea.KeyDelete,
}

// PressOf is the press that a key stands for.
func PressOf(k keymap.Key) tea.Key {
	code := k.Code
	if named, ok := namedKeys[code]; ok {
		code = named
	} else if code >= keymap.F1 && code <= keymap.F24 {
		code = tea.KeyF1 + code - keymap.F1
	}
	t := tea.Key{Code: code, Text: k.Types()}
	for from, to := range map[keymap.Mod]tea.KeyMod{
		keymap.Shift: tea.ModShift, keymap.Alt: tea.ModAlt, keymap.Ctrl: tea.ModCtrl,
		keymap.Super: tea.ModSuper, keymap.Hyper: tea.ModHyper, keymap.Meta: tea.ModMeta,
	} {
		if k.Mod&from != 0 {
			t.Mod |= to
		}
	}
	return t
}

// menus are the commands that the right button offers, by what it is pressed on; "" is a
// line between them.
var menus = map[string][]string{
	"pane": {
		"copy-selection", "paste-buffer", "", "split-right", "split-down", "zoom", "rename-pane", "",
		"reclaim", "hand-back", "background", "end-share", "", "close-pane",
	},
	"tab":  {"new-tab", "rename-tab", "", "move-tab-left", "move-tab-right", "move-tab", "", "close-tab"},
	"line": {"layouts", "switch-layout last", "", "terminals", "agents", "new-tab", "", "palette", "help", "detach"},
}

// OpenMenu opens a menu at a place: of the "pane" or "tab" that has the focus, or of the
// status "line".
func (k *Keys) OpenMenu(of, title string, x, y int) {
	ctx := k.do.Context()
	var items []overlay.Item
	for _, line := range menus[of] {
		words := strings.Fields(line)
		if len(words) == 0 {
			items = append(items, overlay.Item{})
			continue
		}
		name, args := words[0], words[1:]
		_, text, _ := command.Describe(name, args)
		items = append(items, overlay.Item{
			Text: text, Keys: k.Short(name, args...), Why: command.Why(name, args, ctx),
			Do: func() { k.loop.Close(); k.do.Run(name, args) },
		})
	}
	k.loop.Open(&overlay.Menu{Title: title, Items: items, X: x, Y: y})
}
