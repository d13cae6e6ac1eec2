// Package predict shows typed text before its echo has arrived, for hosts with a long round trip.
//
// A Predictor has the cells that keys are expected to change, and the expected cursor, as an
// overlay on a terminal's screen. It is told what the host says about the echo (Allow), what was
// typed (Type) and what the host has passed to the program (Took), and compares itself with the
// screen (Settle). It has no clock, no lock and no goroutine; its owner's lock guards it.
//
// Where it predicts: characters, and the backspace that deletes them, if the host says that the
// pty echoes or that a shell edits a line at its prompt; never on the alternate screen, in the
// last column, or left of where typing began. Any other key is a doubt: nothing is predicted
// until the host has taken it.
//
// When it shows: predictions after a doubt are hidden until the screen has confirmed one of their
// characters, as in mosh, because characters of a password are never confirmed. So the first
// character of each line shows with its echo.
//
// How it ends: a prediction whose input the host has taken is confirmed, and removed, when the
// screen shows it. If that takes longer than grace, all predictions are removed, the screen shows
// what the host says, and a doubt begins.
//
// Text that is typed before a password prompt appears, while the pty still echoes, is like any
// other text: the pty shows it, too.
package predict
