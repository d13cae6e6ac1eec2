// Package status draws the status line: the layout's name and its tabs on the
// left; on the right who holds the focused terminal, its working directory, or
// a message. It is a function of Data that draws into a row and says where the
// tabs are, so that they can be clicked.
//
// Room is given away in this order: the prefix indicator and the message first,
// then the active tab, the badge, the other tabs, the directory.
package status
