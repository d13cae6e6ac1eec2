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

// Hooks is what Keys has other parts do.
type Hooks struct {
	// Mode returns the key table in force, Context the state that decides which commands can run.
	Mode    func() keymap.Mode
	Context func() command.Context
	// Run runs a command. Ran is called after the command of a binding.
	Run func(name string, args []string)
	Ran func(name string)
	// Look returns the look.
	Look func() *look.Look
	// Learnt is called when the prefix key is pressed.
	Learnt func()
}

// Keys is the bindings and the keys of an incomplete chord.
type Keys struct {
	table keymap.Table
	loop  *loop.Loop
	do    Hooks

	pending []keymap.Key // the keys of an incomplete chord
	hint    bool         // the hint is shown
	page    int          // page of the hint
	chord   int          // counts chords, so that an old timer is recognised

	repeat []keymap.Key // a repeatable chord without its last key
	until  time.Time    // until when it may be repeated
}

// New makes Keys without a pressed key.
func New(t keymap.Table, l *loop.Loop, do Hooks) *Keys { return &Keys{table: t, loop: l, do: do} }

func (k *Keys) Use(t keymap.Table) { k.table = t }

func (k *Keys) Prefix() keymap.Key { return k.table.Prefix() }

// Pending is the keys of an incomplete chord, "" for none.
func (k *Keys) Pending() string {
	if len(k.pending) == 0 {
		return ""
	}
	return keymap.Chord(k.pending).String()
}

// Hinting reports whether the hint is shown.
func (k *Keys) Hinting() bool { return k.hint }

// hintTime is how long after the prefix key the hint is shown.
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
			return mode == keymap.Copy || mode == keymap.Reading // copy mode and reading drop unbound keys
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

// Of returns the keys of a command as text, or the command for the palette if it has none.
func (k *Keys) Of(name string) string {
	if b := k.table.For(name); len(b) > 0 {
		return b[0].Keys
	}
	return ":" + name
}

// Short returns the keys of a command without the prefix key; "" for none.
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

// InChat returns the keys of a command in chats, "" for none.
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

// namedKeys is Bubble Tea's codes of the keymap's named keys.
var namedKeys = map[rune]rune{
	keymap.Up: tea.KeyUp, keymap.Down: tea.KeyDown, keymap.Right: tea.KeyRight, keymap.Left: tea.KeyLeft,
	keymap.Home: tea.KeyHome, keymap.End: tea.KeyEnd, keymap.PgUp: tea.KeyPgUp, keymap.PgDown: tea.KeyPgDown,
	keymap.Insert: tea.KeyInsert, keymap.Delete: tea.KeyDelete,
}

// PressOf returns the key press for a key.
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

// menus is the commands of the right button's menus, by what is pressed; "" is a separator.
var menus = map[string][]string{
	"pane": {
		"copy-selection", "paste-buffer", "", "split-right", "split-down", "zoom", "rename-pane", "",
		"reclaim", "hand-back", "background", "end-share", "", "close-pane",
	},
	"tab":  {"new-tab", "rename-tab", "", "move-tab-left", "move-tab-right", "move-tab", "", "close-tab"},
	"line": {"layouts", "switch-layout last", "", "terminals", "agents", "new-tab", "", "palette", "help", "detach"},
}

// OpenMenu opens a menu at a place: of the focused "pane", the active "tab" or the status "line".
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
