// Package predict shows what is typed before its echo has come, over lines where that
// takes a while.
//
// A Predictor has the cells that keys are expected to change, and where the cursor is
// expected, as an overlay on a terminal's screen. Values in, values out: it is told what
// the host says of the echo (Allow), what was typed (Type), what the host has given to
// the program (Took), and looks at the screen (Settle). It has no clock, no lock and no
// goroutine; its owner's lock guards it.
//
// Where. Characters, and the backspace that takes them away, are predicted where the host
// says that the pty echoes, or that a shell edits a line at its prompt; never on the
// alternate screen, in the last column, or left of where the typing began. Any other key
// is a doubt: nothing is predicted until the host has taken it.
//
// When it shows. What is predicted after a doubt is hidden until the screen has confirmed
// one character of it, as in mosh: a password's is never confirmed. So the first character
// of each line comes with its echo.
//
// How it ends. A prediction that the host has taken is confirmed when the screen has it,
// and is gone then. If that is not so within grace, all predictions are gone at once, the
// screen is as the host says, and that is a doubt.
//
// What is typed before a password's prompt shows, while the pty still echoes, can't be
// told from other typing: the pty shows it, too.
package predict
