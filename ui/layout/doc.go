// Package layout is the arrangement of panes as a value: a layout has tabs, a tab is a tree of
// splits with panes as leaves. Operations are pure and return a new Layout. Trees share what did
// not change, so a value must not be modified once it was made, and goroutines may share values.
// Arrange turns a tab into rectangles. The package draws nothing.
//
//	+-- 1 vim ----------+-- 2 make ---------+   Several panes: each has a header
//	|                   |                   |   row on top, and a divider column
//	|  a row (p1, ...)  |  a column         |   stands between the children of a
//	|                   |                   |   row. So every border is one cell
//	|                   +-- 3 shell --------+   wide, and a pane at the edge of the
//	|                   |                   |   screen has none there.
//
// A pane that is alone in its tab, or zoomed, has the whole area and no header. If the panes of a
// tab don't fit into the area, only the focused one is shown.
//
// A column of panes can be a stack: the pane focused last is open, and of the others only the
// headers show. Its neighbours see a stack as one pane.
//
// Floats are above the tiled panes of their tab, each in a frame whose top row is its header.
// Their place is a share of the area, so they keep it on another screen. They can be hidden
// together, but the focused pane is never hidden. When the last tiled pane of a tab closes, the
// lowest float replaces it.
//
// Sizes are weights: a split's cells are shared out by weight, rounded by largest remainder, and
// no pane gets less than MinWidth x MinHeight. Weights change only when a person resizes, splits
// or closes, so a terminal that shrinks and grows again looks as before.
//
// Invariants, after any operation and for any document that Decode accepts: a split has at least
// two children and as many weights, all within 1 and MaxWeight; none of its children is a split
// of the same axis, except a stack; pane and tab ids are unique; each tab's focus is one of its
// visible panes; Active is a tab's index; there are at most MaxTabs tabs, MaxPanes panes per tab,
// MaxTotal panes in all, MaxDepth levels. A layout without tabs is valid: the interface decides
// what that means.
//
// The document (the layout channel's state) is JSON of Version 1. Members that this version
// doesn't know are kept, so that what a newer tandemux adds, as floats once were, survives an
// older one that shares the layout.
package layout
