// Package typing sends the person's input to terminals: keys, pastes and focus reports, encoded
// for the programs' modes. It gathers them during an update and sends them at its end. Only the
// event loop may use it.
//
// Input that takes more than one message, such as a long paste, is a flow: a piece is sent when
// the host has taken the previous one, so that a program that reads slowly gets all of it in
// order. Input typed while the connection is lost is kept for a short time and sent when it is
// back; keys that are not sent are counted and reported. Input goes to the terminal that has the
// layout's focus, and with type-to-all to the other panes of the tab too.
package typing
