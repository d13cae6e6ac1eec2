package input

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
)

// kittyCodes are the CSI u codes of keys without text that have no form of
// their own (kitty keyboard protocol, Functional key definitions).
var kittyCodes = func() map[rune]int {
	m := map[rune]int{
		tea.KeyEscape: 27, tea.KeyEnter: 13, tea.KeyTab: 9, tea.KeyBackspace: 127,
		tea.KeyCapsLock: 57358, tea.KeyScrollLock: 57359, tea.KeyNumLock: 57360,
		tea.KeyPrintScreen: 57361, tea.KeyPause: 57362, tea.KeyMenu: 57363,
		tea.KeyMediaPlay: 57428, tea.KeyMediaPause: 57429, tea.KeyMediaPlayPause: 57430,
		tea.KeyMediaReverse: 57431, tea.KeyMediaStop: 57432, tea.KeyMediaFastForward: 57433,
		tea.KeyMediaRewind: 57434, tea.KeyMediaNext: 57435, tea.KeyMediaPrev: 57436, tea.KeyMediaRecord: 57437,
		tea.KeyLowerVol: 57438, tea.KeyRaiseVol: 57439, tea.KeyMute: 57440,
		tea.KeyLeftShift: 57441, tea.KeyLeftCtrl: 57442, tea.KeyLeftAlt: 57443, tea.KeyLeftSuper: 57444,
		tea.KeyLeftHyper: 57445, tea.KeyLeftMeta: 57446, tea.KeyRightShift: 57447, tea.KeyRightCtrl: 57448,
		tea.KeyRightAlt: 57449, tea.KeyRightSuper: 57450, tea.KeyRightHyper: 57451, tea.KeyRightMeta: 57452,
		tea.KeyIsoLevel3Shift: 57453, tea.KeyIsoLevel5Shift: 57454,
	}
	for i := range rune(23) { // F13–F35
		m[tea.KeyF13+i] = 57376 + int(i)
	}
	for code, p := range keypads {
		m[code] = p.kitty
	}
	return m
}()

// kittyMod is the modifier parameter; kitty has super and meta the other way
// round than the decoder.
func kittyMod(m tea.KeyMod) int {
	n := 1 + int(m&(tea.ModShift|tea.ModAlt|tea.ModCtrl|tea.ModHyper|tea.ModCapsLock|tea.ModNumLock))
	if m&tea.ModSuper != 0 {
		n += 8
	}
	if m&tea.ModMeta != 0 {
		n += 32
	}
	return n
}

// textMods are the modifiers with which a key still types its text.
const textMods = tea.ModShift | tea.ModCapsLock | tea.ModNumLock

func appendKitty(buf []byte, k tea.Key, ev Event, m emulator.Modes) []byte {
	flags := m.Kitty
	if flags&kittyEvents == 0 {
		if ev == Release {
			return buf
		}
		ev = Press
	}
	if flags&(kittyDisambiguate|kittyAll) == 0 && ev != Release {
		return appendLegacy(buf, k, m)
	}
	plain := k.Mod&^(tea.ModCapsLock|tea.ModNumLock) == 0
	if f, ok := functions[k.Code]; ok && (k.Code < tea.KeyF13 || k.Code > tea.KeyF63) && k.Code != tea.KeyMenu {
		if k.Code == tea.KeyF3 { // CSI R is a cursor position report
			f = function{13, '~', never}
		}
		return appendKittyFunction(buf, f, k.Mod, ev)
	}
	switch k.Code {
	case tea.KeyEnter, tea.KeyTab, tea.KeyBackspace:
		if plain && flags&kittyAll == 0 {
			if ev == Release {
				return buf
			}
			return appendControlKey(buf, tea.Key{Code: k.Code}, m)
		}
	}
	if n := kittyCodes[k.Code]; n >= 57441 && n <= 57454 && flags&kittyAll == 0 { // a modifier
		return buf
	}
	if k.Text != "" && k.Mod&^textMods == 0 && flags&kittyAll == 0 && ev != Release {
		return append(buf, k.Text...)
	}
	return appendCSIu(buf, k, ev, flags)
}

func appendKittyFunction(buf []byte, f function, mod tea.KeyMod, ev Event) []byte {
	buf = append(buf, "\x1b["...)
	n := kittyMod(mod)
	if f.number != 1 || f.final == '~' || n != 1 || ev != Press {
		buf = strconv.AppendInt(buf, int64(f.number), 10)
	}
	buf = appendKittyMod(buf, n, ev)
	return append(buf, f.final)
}

func appendKittyMod(buf []byte, mod int, ev Event) []byte {
	if mod == 1 && ev == Press {
		return buf
	}
	buf = append(buf, ';')
	buf = strconv.AppendInt(buf, int64(mod), 10)
	if ev != Press {
		buf = append(buf, ':', '0'+byte(ev))
	}
	return buf
}

func appendCSIu(buf []byte, k tea.Key, ev Event, flags int) []byte {
	code := int(k.Code)
	if n, ok := kittyCodes[k.Code]; ok {
		code = n
	} else if k.Code >= tea.KeyExtended {
		if ev == Release {
			return buf
		}
		return append(buf, k.Text...)
	}
	if code <= 0 {
		return buf
	}
	buf = append(buf, "\x1b["...)
	buf = strconv.AppendInt(buf, int64(code), 10)
	if flags&kittyAlternates != 0 {
		shifted := k.Mod&tea.ModShift != 0 && k.ShiftedCode != 0 && k.ShiftedCode != k.Code
		base := k.BaseCode != 0 && k.BaseCode != k.Code
		if shifted || base {
			buf = append(buf, ':')
		}
		if shifted {
			buf = strconv.AppendInt(buf, int64(k.ShiftedCode), 10)
		}
		if base {
			buf = append(buf, ':')
			buf = strconv.AppendInt(buf, int64(k.BaseCode), 10)
		}
	}
	text := flags&kittyText != 0 && flags&kittyAll != 0 && k.Text != "" && ev != Release && k.Mod&^textMods == 0
	mod := kittyMod(k.Mod)
	if text && mod == 1 && ev == Press {
		buf = append(buf, ';')
	} else {
		buf = appendKittyMod(buf, mod, ev)
	}
	if text {
		sep := byte(';')
		for _, r := range k.Text {
			buf = append(buf, sep)
			buf = strconv.AppendInt(buf, int64(r), 10)
			sep = ':'
		}
	}
	return append(buf, 'u')
}
