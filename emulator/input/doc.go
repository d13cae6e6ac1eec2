// Package input makes the bytes that a program expects from its terminal for keys,
// the mouse, pastes and the focus, given the modes that it set.
//
// It is functions of values: it keeps nothing, decides nothing about who may type,
// and sends nothing.
package input
