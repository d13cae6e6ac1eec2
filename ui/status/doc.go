// Package status draws the status line: the layout's name and its tabs on the
// left; on the right who holds the focused terminal, its working directory, or
// a message. It is a function of Data that draws into a row and says where the
// tabs are, so that they can be clicked.
//
// Which segments it shows, and on which side, is a Line, composed of the names in
// the table of segments. Room is given away in this order: the prefix indicator
// and the message first, then the active tab, the segments by their rank, the
// other tabs.
package status
