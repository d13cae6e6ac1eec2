// Package control has what all engines do alike with control functions, whatever their grid. It takes
// sequences apart (Parser), applies SGR to a pen, and keeps what programs set beside the grid: modes
// (Modes), tab stops (Tabs), and titles, colours and events (System). Each of these writes itself into
// a snapshot.
//
// The values belong to one engine and, like it, are not safe for concurrent use. The package knows no
// cells, no cursor and no history, and does no I/O.
package control
