// Package hints finds in text what people copy by hand (addresses, paths, hashes, IP
// addresses, numbers), names each by a letter or two, and is the overlay in which these are
// typed.
//
// Find and Labels are functions of their arguments. An Overlay belongs to the event loop;
// what it does with what was chosen it is given. It draws the texts as they were found:
// what the program draws meanwhile does not change what a label stands for.
package hints
