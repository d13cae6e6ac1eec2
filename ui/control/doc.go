// Package control is what a person does with terminals whoever holds them: taking one
// from an agent or another person, handing it back, leaving it to the background,
// ending it, and the list of all of them with a preview. What that interrupts or ends
// is asked about first. It belongs to the event loop.
package control
