// Package control has the commands about terminals whoever holds them: taking one from an agent
// or another person, handing it back, sending it to the background, ending it, and the list of
// all terminals with previews. It asks before it interrupts or ends something. Only the event
// loop may use it.
package control
