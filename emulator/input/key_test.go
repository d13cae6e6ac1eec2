package input

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
)

var (
	shift = tea.ModShift
	alt   = tea.ModAlt
	ctrl  = tea.ModCtrl
)

func TestAppendKey(t *testing.T) {
	legacy := emulator.Modes{}
	app := emulator.Modes{AppCursor: true}
	pad := emulator.Modes{AppKeypad: true}
	other1 := emulator.Modes{ModifyOtherKeys: 1}
	other2 := emulator.Modes{ModifyOtherKeys: 2}
	kitty := func(flags int) emulator.Modes { return emulator.Modes{Kitty: flags} }
	for _, c := range []struct {
		name  string
		key   tea.Key
		event Event
		modes emulator.Modes
		want  string
	}{
		{"letter", tea.Key{Code: 'a', Text: "a"}, Press, legacy, "a"},
		{"shifted letter", tea.Key{Code: 'a', Text: "A", Mod: shift, ShiftedCode: 'A'}, Press, legacy, "A"},
		{"umlaut", tea.Key{Code: 'ü', Text: "ü"}, Press, legacy, "ü"},
		{"cluster", tea.Key{Code: tea.KeyExtended, Text: "🇩🇪"}, Press, legacy, "🇩🇪"},
		{"space", tea.Key{Code: ' ', Text: " "}, Press, legacy, " "},
		{"ctrl+c", tea.Key{Code: 'c', Mod: ctrl}, Press, legacy, "\x03"},
		{"ctrl+space", tea.Key{Code: ' ', Mod: ctrl}, Press, legacy, "\x00"},
		{"ctrl+@", tea.Key{Code: '@', Mod: ctrl}, Press, legacy, "\x00"},
		{"ctrl+[", tea.Key{Code: '[', Mod: ctrl}, Press, legacy, "\x1b"},
		{`ctrl+\`, tea.Key{Code: '\\', Mod: ctrl}, Press, legacy, "\x1c"},
		{"ctrl+/", tea.Key{Code: '/', Mod: ctrl}, Press, legacy, "\x1f"},
		{"ctrl+5", tea.Key{Code: '5', Mod: ctrl}, Press, legacy, "\x1d"},
		{"ctrl+;", tea.Key{Code: ';', Mod: ctrl}, Press, legacy, ";"},
		{"alt+x", tea.Key{Code: 'x', Mod: alt}, Press, legacy, "\x1bx"},
		{"alt+X", tea.Key{Code: 'x', Mod: alt | shift}, Press, legacy, "\x1bX"},
		{"ctrl+alt+x", tea.Key{Code: 'x', Mod: alt | ctrl}, Press, legacy, "\x1b\x18"},
		{"super+x", tea.Key{Code: 'x', Mod: tea.ModSuper}, Press, legacy, ""},
		{"release", tea.Key{Code: 'a', Text: "a"}, Release, legacy, ""},

		{"enter", tea.Key{Code: tea.KeyEnter}, Press, legacy, "\r"},
		{"enter, newline mode", tea.Key{Code: tea.KeyEnter}, Press, emulator.Modes{Newline: true}, "\r\n"},
		{"shift+enter", tea.Key{Code: tea.KeyEnter, Mod: shift}, Press, legacy, "\r"},
		{"shift+enter, other keys", tea.Key{Code: tea.KeyEnter, Mod: shift}, Press, other1, "\x1b[27;2;13~"},
		{"alt+enter", tea.Key{Code: tea.KeyEnter, Mod: alt}, Press, legacy, "\x1b\r"},
		{"tab", tea.Key{Code: tea.KeyTab}, Press, legacy, "\t"},
		{"shift+tab", tea.Key{Code: tea.KeyTab, Mod: shift}, Press, other1, "\x1b[Z"},
		{"ctrl+tab, other keys", tea.Key{Code: tea.KeyTab, Mod: ctrl}, Press, other1, "\x1b[27;5;9~"},
		{"backspace", tea.Key{Code: tea.KeyBackspace}, Press, legacy, "\x7f"},
		{"backspace, DECBKM", tea.Key{Code: tea.KeyBackspace}, Press, emulator.Modes{BackspaceSendsBS: true}, "\b"},
		{"ctrl+backspace", tea.Key{Code: tea.KeyBackspace, Mod: ctrl}, Press, legacy, "\b"},
		{"alt+backspace", tea.Key{Code: tea.KeyBackspace, Mod: alt}, Press, legacy, "\x1b\x7f"},
		{"esc", tea.Key{Code: tea.KeyEscape}, Press, legacy, "\x1b"},
		{"alt+esc", tea.Key{Code: tea.KeyEscape, Mod: alt}, Press, legacy, "\x1b\x1b"},

		{"up", tea.Key{Code: tea.KeyUp}, Press, legacy, "\x1b[A"},
		{"up, application", tea.Key{Code: tea.KeyUp}, Press, app, "\x1bOA"},
		{"ctrl+up, application", tea.Key{Code: tea.KeyUp, Mod: ctrl}, Press, app, "\x1b[1;5A"},
		{"home, application", tea.Key{Code: tea.KeyHome}, Press, app, "\x1bOH"},
		{"end", tea.Key{Code: tea.KeyEnd}, Press, legacy, "\x1b[F"},
		{"shift+alt+left", tea.Key{Code: tea.KeyLeft, Mod: shift | alt}, Press, legacy, "\x1b[1;4D"},
		{"insert", tea.Key{Code: tea.KeyInsert}, Press, legacy, "\x1b[2~"},
		{"ctrl+delete", tea.Key{Code: tea.KeyDelete, Mod: ctrl}, Press, legacy, "\x1b[3;5~"},
		{"pgup", tea.Key{Code: tea.KeyPgUp}, Press, legacy, "\x1b[5~"},
		{"f1", tea.Key{Code: tea.KeyF1}, Press, legacy, "\x1bOP"},
		{"shift+f1", tea.Key{Code: tea.KeyF1, Mod: shift}, Press, legacy, "\x1b[1;2P"},
		{"f5", tea.Key{Code: tea.KeyF5}, Press, legacy, "\x1b[15~"},
		{"ctrl+f12", tea.Key{Code: tea.KeyF12, Mod: ctrl}, Press, legacy, "\x1b[24;5~"},
		{"f13", tea.Key{Code: tea.KeyF13}, Press, legacy, "\x1b[25~"},

		{"keypad 5", tea.Key{Code: tea.KeyKp5, Text: "5"}, Press, legacy, "5"},
		{"keypad 5, application", tea.Key{Code: tea.KeyKp5, Text: "5"}, Press, pad, "\x1bOu"},
		{"keypad enter", tea.Key{Code: tea.KeyKpEnter}, Press, legacy, "\r"},
		{"keypad enter, application", tea.Key{Code: tea.KeyKpEnter}, Press, pad, "\x1bOM"},
		{"keypad up", tea.Key{Code: tea.KeyKpUp}, Press, app, "\x1bOA"},

		{"ctrl+;, other keys", tea.Key{Code: ';', Mod: ctrl}, Press, other1, "\x1b[27;5;59~"},
		{"ctrl+shift+a, other keys", tea.Key{Code: 'a', Mod: ctrl | shift}, Press, other1, "\x1b[27;6;65~"},
		{"ctrl+a, other keys 1", tea.Key{Code: 'a', Mod: ctrl}, Press, other1, "\x01"},
		{"ctrl+a, other keys 2", tea.Key{Code: 'a', Mod: ctrl}, Press, other2, "\x1b[27;5;97~"},
		{"alt+a, other keys 2", tea.Key{Code: 'a', Mod: alt}, Press, other2, "\x1ba"},

		{"kitty letter", tea.Key{Code: 'a', Text: "a"}, Press, kitty(1), "a"},
		{"kitty shifted letter", tea.Key{Code: 'a', Text: "A", Mod: shift}, Press, kitty(1), "A"},
		{"kitty esc", tea.Key{Code: tea.KeyEscape}, Press, kitty(1), "\x1b[27u"},
		{"kitty enter", tea.Key{Code: tea.KeyEnter}, Press, kitty(1), "\r"},
		{"kitty shift+enter", tea.Key{Code: tea.KeyEnter, Mod: shift}, Press, kitty(1), "\x1b[13;2u"},
		{"kitty ctrl+i", tea.Key{Code: 'i', Mod: ctrl}, Press, kitty(1), "\x1b[105;5u"},
		{"kitty tab", tea.Key{Code: tea.KeyTab}, Press, kitty(1), "\t"},
		{"kitty alt+a", tea.Key{Code: 'a', Mod: alt}, Press, kitty(1), "\x1b[97;3u"},
		{"kitty super+a", tea.Key{Code: 'a', Mod: tea.ModSuper}, Press, kitty(1), "\x1b[97;9u"},
		{"kitty up", tea.Key{Code: tea.KeyUp}, Press, emulator.Modes{Kitty: 1, AppCursor: true}, "\x1b[A"},
		{"kitty ctrl+up", tea.Key{Code: tea.KeyUp, Mod: ctrl}, Press, kitty(1), "\x1b[1;5A"},
		{"kitty f1", tea.Key{Code: tea.KeyF1}, Press, kitty(1), "\x1b[P"},
		{"kitty f3", tea.Key{Code: tea.KeyF3}, Press, kitty(1), "\x1b[13~"},
		{"kitty f13", tea.Key{Code: tea.KeyF13}, Press, kitty(1), "\x1b[57376u"},
		{"kitty keypad 1", tea.Key{Code: tea.KeyKp1}, Press, kitty(1), "\x1b[57400u"},
		{"kitty shift alone", tea.Key{Code: tea.KeyLeftShift, Mod: shift}, Press, kitty(1), ""},
		{"kitty release unwanted", tea.Key{Code: 'a', Mod: ctrl}, Release, kitty(1), ""},
		{"kitty release", tea.Key{Code: 'a', Mod: ctrl}, Release, kitty(3), "\x1b[97;5:3u"},
		{"kitty release of text", tea.Key{Code: 'a', Text: "a"}, Release, kitty(3), "\x1b[97;1:3u"},
		{"kitty release of enter", tea.Key{Code: tea.KeyEnter}, Release, kitty(3), ""},
		{"kitty repeat", tea.Key{Code: tea.KeyUp, IsRepeat: true}, Press, kitty(3), "\x1b[1;1:2A"},
		{"kitty repeat, events off", tea.Key{Code: tea.KeyUp, IsRepeat: true}, Press, kitty(1), "\x1b[A"},
		{"kitty alternates", tea.Key{Code: 'a', Mod: ctrl | shift, ShiftedCode: 'A', BaseCode: 'q'}, Press, kitty(5), "\x1b[97:65:113;6u"},
		{"kitty base alone", tea.Key{Code: 'с', Mod: ctrl, BaseCode: 'c'}, Press, kitty(5), "\x1b[1089::99;5u"},
		{"kitty all", tea.Key{Code: 'a', Text: "a"}, Press, kitty(8), "\x1b[97u"},
		{"kitty all, enter", tea.Key{Code: tea.KeyEnter}, Press, kitty(8), "\x1b[13u"},
		{"kitty all with text", tea.Key{Code: 'a', Text: "A", Mod: shift}, Press, kitty(24), "\x1b[97;2;65u"},
		{"kitty all with plain text", tea.Key{Code: 'a', Text: "a"}, Press, kitty(24), "\x1b[97;;97u"},
		{"kitty all, shift alone", tea.Key{Code: tea.KeyLeftShift, Mod: shift}, Press, kitty(8), "\x1b[57441;2u"},
		{"kitty events only", tea.Key{Code: 'c', Mod: ctrl}, Press, kitty(2), "\x03"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendKey(nil, c.key, c.event, c.modes)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAppendMouse(t *testing.T) {
	at := func(kind MouseKind, b tea.MouseButton, mod tea.KeyMod) MouseEvent {
		return MouseEvent{Mouse: tea.Mouse{X: 4, Y: 9, Button: b, Mod: mod}, Kind: kind}
	}
	far := MouseEvent{Mouse: tea.Mouse{X: 200, Y: 300, Button: tea.MouseLeft}}
	sgr := func(m emulator.Mouse) emulator.Modes {
		return emulator.Modes{Mouse: m, MouseEncoding: emulator.MouseSGR}
	}
	for _, c := range []struct {
		name  string
		ev    MouseEvent
		modes emulator.Modes
		want  string
	}{
		{"off", at(MousePress, tea.MouseLeft, 0), emulator.Modes{}, ""},
		{"sgr press", at(MousePress, tea.MouseLeft, 0), sgr(emulator.MouseNormal), "\x1b[<0;5;10M"},
		{"sgr release", at(MouseRelease, tea.MouseRight, 0), sgr(emulator.MouseNormal), "\x1b[<2;5;10m"},
		{"sgr drag", at(MouseMotion, tea.MouseLeft, 0), sgr(emulator.MouseButton), "\x1b[<32;5;10M"},
		{"drag unwanted", at(MouseMotion, tea.MouseLeft, 0), sgr(emulator.MouseNormal), ""},
		{"move unwanted", at(MouseMotion, tea.MouseNone, 0), sgr(emulator.MouseButton), ""},
		{"move", at(MouseMotion, tea.MouseNone, 0), sgr(emulator.MouseAny), "\x1b[<35;5;10M"},
		{"wheel", at(MouseWheel, tea.MouseWheelDown, ctrl), sgr(emulator.MouseNormal), "\x1b[<81;5;10M"},
		{"modifiers", at(MousePress, tea.MouseMiddle, shift|alt|ctrl), sgr(emulator.MouseNormal), "\x1b[<29;5;10M"},
		{"old press", at(MousePress, tea.MouseLeft, 0), emulator.Modes{Mouse: emulator.MouseNormal}, "\x1b[M %*"},
		{"old release", at(MouseRelease, tea.MouseLeft, 0), emulator.Modes{Mouse: emulator.MouseNormal}, "\x1b[M#%*"},
		{"old, too far", far, emulator.Modes{Mouse: emulator.MouseNormal}, ""},
		{"x10", at(MousePress, tea.MouseLeft, ctrl), emulator.Modes{Mouse: emulator.MouseX10}, "\x1b[M %*"},
		{"x10 release", at(MouseRelease, tea.MouseLeft, 0), emulator.Modes{Mouse: emulator.MouseX10}, ""},
		{"utf8", far, emulator.Modes{Mouse: emulator.MouseNormal, MouseEncoding: emulator.MouseUTF8}, "\x1b[M éō"},
		{"urxvt", far, emulator.Modes{Mouse: emulator.MouseNormal, MouseEncoding: emulator.MouseURXVT}, "\x1b[32;201;301M"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendMouse(nil, c.ev, c.modes)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPaste(t *testing.T) {
	marks := emulator.Modes{BracketedPaste: true}
	for _, c := range []struct {
		text        string
		first, last bool
		modes       emulator.Modes
		want        string
	}{
		{"a\nb\r\nc", true, true, emulator.Modes{}, "a\rb\rc"},
		{"a\nb", true, true, marks, "\x1b[200~a\rb\x1b[201~"},
		{"a", true, false, marks, "\x1b[200~a"},
		{"b", false, false, marks, "b"},
		{"c", false, true, marks, "c\x1b[201~"},
		{"x\x1b[201~rm -rf\r", true, true, marks, "\x1b[200~x[201~rm -rf\r\x1b[201~"},
		{"\x1b[20\x1b[200~1~", true, true, marks, "\x1b[200~\x1b[20[200~1~\x1b[201~"},
	} {
		if got := Paste(c.text, c.first, c.last, c.modes); got != c.want {
			t.Errorf("Paste(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestWheelKeysFollowTheCursorMode(t *testing.T) {
	if got := string(AppendWheelKeys(nil, true, emulator.Modes{AppCursor: true})); got != "\x1bOA\x1bOA\x1bOA" {
		t.Errorf("got %q", got)
	}
	if got := string(AppendWheelKeys(nil, false, emulator.Modes{})); got != "\x1b[B\x1b[B\x1b[B" {
		t.Errorf("got %q", got)
	}
}
