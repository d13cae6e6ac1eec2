// Package grapheme knows runes as an emulator needs them for every cell: how many
// columns one takes, and what of UAX #29 decides whether it joins the character before
// it. Its table is made from package emulator and uax29, which are many times as slow
// (gen.go); tests hold it to them.
//
// Values only, for any goroutine. What a cell is, and which modes change it, is package
// native's.
package grapheme
