// Package emutest tests emulators: a golden format that people can review, a
// dump of an engine's whole visible state, generators of terminal programs and
// the properties that every engine must have.
//
// A golden is a txtar file. Its comment says what is tested and why. Its
// sections are steps, run from top to bottom; a section of the same name may
// come again.
//
//	size        "20x5": makes the engine; first, once. "20x5 history 100" sets
//	            the scrollback; "20x5 allowed" allows programs all there is.
//	input       Go-quoted strings, one a line, written in one piece each
//	resize      "30x5"
//	screen      the cursor, then rows between bars; "|~" ends a row that is
//	            continued on the next one
//	history     scrollback in the same form, oldest line first
//	attrs       runs of cells that are not in the default style:
//	            "3:0-4 bold fg=1": row, first and last column; negative rows
//	            are history
//	tabs        "3:1 7": row, column and columns taken of each tab in empty cells
//	replies     Go-quoted replies since the last such section
//	events      all other events since the last such section
//	modes       the modes that are set
//	title       the title, quoted
//
// With -update the checking sections are written anew; the others stay.
//
// An engine is only given as a constructor, so that the package depends on none; its own
// tests hold the goldens and the properties against all engines.
package emutest
