// Package hints finds in text what people copy by hand (URLs, paths, hashes, IP addresses,
// numbers), labels it with letters, and has the overlay in which the letters are typed.
//
// Find and Labels are pure functions. Only the event loop may use an Overlay, which calls a
// function with the choice. It draws the texts as they were found, so that later output doesn't
// change what a label stands for.
package hints
