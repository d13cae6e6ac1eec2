// Package find has the values of x-tandemux/history, the commands that ran in any terminal,
// and of x-tandemux/search, the lines of all terminals that match.
package find
