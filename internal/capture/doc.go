// Package capture keeps what terminals show: it records a terminal from a connection of
// its own (Recording, `tandemux record`), plays recordings (`tandemux play`), and prints a
// screen as text or as an SVG image (Picture, `tandemux read --svg`). The formats are
// internal/asciicast's and internal/svg's, the player's screen is ui/player's.
//
// A Recording is the sink of its connection, whose reader calls it in order; a lock
// orders that with Stop and Input. Nothing is recorded of what others type.
package capture
