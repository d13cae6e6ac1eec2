// Package vt10x puts github.com/hinshun/vt10x behind emulator.Emulator. It was
// the first engine and stays selectable; its other use is as an oracle for what
// the native one must agree with.
//
// vt10x draws; what it may be told is decided here:
//
//	bytes → control.Parser → text, sequences that it knows, with bounded parameters → vt10x
//	                    ↳ modes, tabs, pen, replies, events: kept here
//
// What it has no idea of there is not: wide characters (each column shows U+FFFD),
// combining marks, hyperlinks, insert mode, G1, marks, reflow. Scrollback is saved here
// before each scroll that would lose a line.
//
// Last fence: a panic inside vt10x is recovered and it is replaced by a fresh one;
// history and modes survive.
//
// An engine is not safe for concurrent use. It starts no goroutine.
package vt10x
