package keys

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/keymap"
)

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
