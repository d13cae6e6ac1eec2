// Package transcript shows the turns of a chat with an agent: messages, answers,
// thoughts, tool calls with their terminals and changes, and where in them a reader
// is.
//
//	state of the chat (ahp) ─▶ View ─▶ turns ─▶ items ─▶ lines (ui/markup) ─▶ cells
//
// A View belongs to the event loop. It is given the state (Reset, Sync), and texts of
// the turn that runs by themselves (Grow): what a piece of text costs does not depend
// on how much came before. The lines of an item are made once for a width and kept;
// what shows at the top stays there when items fold, come or get other widths.
//
// It does not know the prompt nor what waits for an answer, sends nothing, and has no
// clock but the time that it is given.
package transcript
