// Package status draws the status line: the layout's name and its tabs on the left; on the right
// alerts, who holds the focused terminal, its working directory, or a message. It draws Data into
// a row and returns the places of the tabs, so that they can be clicked.
//
// A Line says which segments show, and on which side; it is composed of the names in the table of
// segments. Room goes first to the prefix indicator and the message, then to the active tab, to
// the segments by their rank, and to the other tabs.
package status
