// Package vt10x puts github.com/hinshun/vt10x behind emulator.Emulator. It was
// the first engine and stays selectable; its other use is as an oracle for what
// the native one must agree with: where the cursor goes, what wraps, scrolls,
// is erased, inserted and deleted.
//
// The front decides about every byte; vt10x itself is only ever given sequences that it
// reads rightly, with bounded parameters:
//
//	bytes → control.Parser → print, sequences → engine.send → vt10x
//	                    ↳ modes, pen, links, tabs, replies, events: kept here
//
// There are two of it, one for each screen, so that both can be read. What it has no room
// for travels through it in disguise. A cell's style and hyperlink are interned, and the
// number goes in as the foreground colour (24 bits). Two noncharacters, which no font has,
// stand for a typed space (a plain one is then an erased cell) and for the second half of a
// wide character. Scrollback is saved here before each scroll that would lose a line.
//
// Last fence: a panic inside vt10x is recovered and both are replaced by fresh ones;
// history, modes and pen survive.
//
// An engine is not safe for concurrent use. It starts no goroutine. What it lacks is in
// docs/from-tmux.md.
package vt10x
