// Package transcript shows the turns of a chat with an agent: messages, answers, thoughts, tool
// calls with their terminals and changes. It knows which of them the reader's focus is on.
//
//	state of the chat (ahp) ─▶ View ─▶ turns ─▶ items ─▶ lines (ui/markup) ─▶ cells
//
// Only the event loop may use a View. It is given the state (Reset, Sync), and the growing texts
// of the running turn piece by piece (Grow): the cost of a piece does not depend on the length of
// the text. The lines of an item are made once for a width and kept. When items fold, arrive or
// change their width, what shows at the top stays there.
//
// The package knows neither the prompt nor questions that wait, sends nothing, and has no clock:
// it is given the time.
package transcript
