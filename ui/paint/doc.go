// Package paint turns what the interface draws into the fewest bytes for the
// outer terminal.
//
//	components ─draw─▶ Canvas (what should show) ─compare─▶ Painter (what shows) ─▶ bytes
//
// A Canvas is a grid of 24-byte cells. It keeps what was drawn, so a component draws only what
// changed, and remembers for each row which cells may differ from what is shown. A Painter holds
// the cells that the outer terminal shows and writes the difference. Pace says when to paint: at
// once after a pause, else once a frame.
//
// Ownership: only one goroutine, the event loop's, may use a Canvas, Painter or Pace. The package
// writes nothing; it appends to buffers.
//
// Invariants: if nothing differs, no frame is written; a wide character always has two cells of
// the canvas, and half of one is drawn as a blank; control characters in what is drawn are never
// passed on.
package paint
