// Package vt10x puts github.com/hinshun/vt10x behind emulator.Emulator. It was
// the first engine and stays selectable; its other use is as an oracle for what
// the native one must agree with: where the cursor goes, what wraps, scrolls,
// is erased, inserted and deleted.
//
// A front scanner reads every byte and decides; vt10x itself is only ever given
// sequences that it reads rightly, with bounded parameters:
//
//	bytes → scan → print, csi, esc, osc, dcs → engine.send → vt10x
//	                    ↳ modes, pen, links, tabs, replies, events: kept here
//
// What vt10x has no room for travels through it in disguise. A cell's style and
// hyperlink are interned, and the number goes in as the foreground colour (24
// bits). Three noncharacters, which no font has, stand for a typed space (a
// plain one is then an erased cell), for the second half of a wide character,
// and for the cell left free before one at the margin. Scrollback is saved here
// before each scroll that would lose a line.
//
// Last fence: a panic inside vt10x is recovered and the inner terminal replaced
// by a fresh one; history, modes and pen survive.
//
// An engine is not safe for concurrent use. It starts no goroutine.
//
// Known lacks, against emulator/native: combining marks and grapheme clusters
// (zero-width characters are dropped, an emoji sequence is shown part by part),
// reflow, left and right margins, reverse wrap, selective erase (DECSCA), VT52,
// DECCOLM, kitty keyboard and modifyOtherKeys (always off), images, rectangle
// operations, SS2/SS3; leaving the alternate screen by 47 clears it. About
// 10 MB/s.
package vt10x
