// Package paint turns what the interface draws into the fewest bytes for the
// outer terminal.
//
//	components ─draw─▶ Canvas (what should show) ─compare─▶ Painter (what shows) ─▶ bytes
//
// A Canvas is a grid of 24-byte cells that is drawn into again and again: it
// keeps what was drawn, so that a component draws only what changed, and it
// remembers per row which cells may differ from what is shown. A Painter holds
// the cells that the outer terminal shows and writes the difference. Pace says
// when: at once after a pause, else once a frame.
//
// Ownership: Canvas, Painter and Pace belong to one goroutine, the event
// loop's. The package writes nowhere; it appends to buffers.
//
// Invariants: no frame is written when nothing differs; a wide character is
// always two cells of the canvas, half a one is drawn as a blank; the control
// characters of what is drawn are never passed on.
package paint
