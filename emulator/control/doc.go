// Package control is what every engine does alike with control functions, whatever its
// grid: it takes sequences apart (Parser), applies SGR to a pen, and keeps what programs
// set beside the grid: modes (Modes), tab stops (Tabs), and titles, colours and events
// (System). Each writes itself into a snapshot.
//
// The values belong to one engine and, like it, are not safe for concurrent use. Nothing
// here knows cells, the cursor or history, and nothing does I/O.
package control
