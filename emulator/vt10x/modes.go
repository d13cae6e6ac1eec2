package vt10x

import "tandemux/emulator"

// mode is one that can be set, reset and asked for.
type mode struct {
	set func(e *engine, on bool)
	get func(e *engine) bool
}

// boolMode is a mode that is a flag.
func boolMode(flag func(e *engine) *bool) mode {
	return mode{
		set: func(e *engine, on bool) { *flag(e) = on },
		get: func(e *engine) bool { return *flag(e) },
	}
}

// mouseMode is a tracking mode; they exclude each other.
func mouseMode(m emulator.Mouse) mode {
	return mode{
		set: func(e *engine, on bool) {
			e.modes.Mouse = emulator.MouseOff
			if on {
				e.modes.Mouse = m
			}
		},
		get: func(e *engine) bool { return e.modes.Mouse == m },
	}
}

// encodingMode is a mouse encoding; resetting one that is not in force does
// nothing.
func encodingMode(m emulator.MouseEncoding) mode {
	return mode{
		set: func(e *engine, on bool) {
			switch {
			case on:
				e.modes.MouseEncoding = m
			case e.modes.MouseEncoding == m:
				e.modes.MouseEncoding = emulator.MouseDefault
			}
		},
		get: func(e *engine) bool { return e.modes.MouseEncoding == m },
	}
}

// altMode is one of the ways to the alternate screen.
func altMode(n int) mode {
	return mode{
		set: func(e *engine, on bool) { e.switchScreen(n, on) },
		get: func(e *engine) bool { return e.altMode != 0 },
	}
}

var ansiModes, privateModes map[int]mode

func init() {
	ansiModes = map[int]mode{
		4:  boolMode(func(e *engine) *bool { return &e.flags.insert }),
		20: boolMode(func(e *engine) *bool { return &e.modes.Newline }),
	}
	privateModes = map[int]mode{
		1: boolMode(func(e *engine) *bool { return &e.modes.AppCursor }),
		5: {
			set: func(e *engine, on bool) {
				e.damage.all = e.damage.all || e.modes.ReverseScreen != on
				e.modes.ReverseScreen = on
			},
			get: func(e *engine) bool { return e.modes.ReverseScreen },
		},
		6: {
			set: (*engine).setOrigin,
			get: func(e *engine) bool { return e.flags.origin },
		},
		7: {
			set: (*engine).setWrap,
			get: func(e *engine) bool { return !e.flags.noWrap },
		},
		9:    mouseMode(emulator.MouseX10),
		12:   boolMode(func(e *engine) *bool { return &e.cursor.Blink }),
		25:   boolMode(func(e *engine) *bool { return &e.cursor.Visible }),
		47:   altMode(47),
		66:   boolMode(func(e *engine) *bool { return &e.modes.AppKeypad }),
		67:   boolMode(func(e *engine) *bool { return &e.modes.BackspaceSendsBS }),
		1000: mouseMode(emulator.MouseNormal),
		1002: mouseMode(emulator.MouseButton),
		1003: mouseMode(emulator.MouseAny),
		1004: boolMode(func(e *engine) *bool { return &e.modes.FocusEvents }),
		1005: encodingMode(emulator.MouseUTF8),
		1006: encodingMode(emulator.MouseSGR),
		1007: boolMode(func(e *engine) *bool { return &e.modes.AltScroll }),
		1015: encodingMode(emulator.MouseURXVT),
		1016: encodingMode(emulator.MouseSGRPixels),
		1047: altMode(1047),
		1048: {
			set: func(e *engine, on bool) {
				if on {
					e.save()
				} else {
					e.restore()
				}
			},
			get: func(e *engine) bool { return true },
		},
		1049: altMode(1049),
		2004: boolMode(func(e *engine) *bool { return &e.modes.BracketedPaste }),
		2026: boolMode(func(e *engine) *bool { return &e.modes.Sync }),
		2031: boolMode(func(e *engine) *bool { return &e.modes.ColorScheme }),
	}
}

func (e *engine) setModes(s sequence, table map[int]mode, on bool) {
	for _, p := range s.params {
		if m, ok := table[p.n]; ok {
			m.set(e, on)
		}
	}
}

// setWrap is DECAWM.
func (e *engine) setWrap(on bool) {
	e.flags.noWrap = !on
	if on {
		e.sendString("\x1b[?7h")
	} else {
		e.sendString("\x1b[?7l")
	}
}

// switchScreen goes to the alternate screen or back. vt10x would enter it when
// asked to leave from the main one, and clears it on the way back only.
func (e *engine) switchScreen(n int, on bool) {
	if on == (e.altMode != 0) {
		if n == 1049 && !on {
			e.restore() // As xterm and tmux do.
		}
		return
	}
	e.damage.all = true
	e.modes.AltScreen = on
	if on {
		if n == 1049 {
			e.save()
		}
		e.hidden = e.copyScreen()
		e.sendString("\x1b[?47h")
		e.altMode = n
		if n == 1049 && !e.pen.Style.BG.IsDefault() {
			e.sendPen()
			e.sendCSI(2, 'J')
		}
		return
	}
	e.settle() // The main screen's line may have wrapped already.
	// Leaving clears the alternate screen: in the default style, so that
	// nothing of this pen is found there next time.
	e.sendID(0)
	e.sendString("\x1b[?47l")
	e.altMode = 0
	e.hidden = grid{}
	e.unmarkInside() // It may have been resized meanwhile.
	e.endBottom()
	if n == 1049 {
		e.restore()
	}
}
