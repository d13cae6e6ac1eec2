// Package layout is the arrangement of panes as a value: a layout has tabs, a
// tab is a tree of splits with panes as leaves. Operations are pure and give a
// new Layout; trees share what did not change, so nothing of a value may be
// written to once it was made, and values may be shared between goroutines.
// Arrange turns a tab into rectangles; nothing here draws.
//
//	+-- 1 vim ----------+-- 2 make ---------+   Several panes: each has a header
//	|                   |                   |   row on top, and a divider column
//	|  a row (p1, ...)  |  a column         |   stands between the children of a
//	|                   |                   |   row. So every border is one cell
//	|                   +-- 3 shell --------+   wide, and a pane at the edge of the
//	|                   |                   |   screen has none there.
//
// A pane alone in its tab, or zoomed, has the whole area and no header. Where
// the panes of a tab don't fit into the area, the focused one is shown alone.
//
// A column of panes can be a stack: one is open, the one focused last, and of the others
// the headers show. It is one thing among its neighbours.
//
// Floats lie above the tiled panes of their tab, each in a frame whose top row is
// its header, at a share of the area: they keep their place on another screen.
// They can be hidden together; what has the focus is never hidden. When the last
// tiled pane of a tab closes, the lowest float takes its place.
//
// Sizes are weights: a split's cells are shared out by them, the rounding by
// largest remainder, and no pane gets less than MinWidth x MinHeight. Weights
// change only when a person resizes, splits or closes, so a terminal that
// shrinks and grows again shows what it showed before.
//
// Invariants, after any operation and for any document that Decode accepts: a
// split has at least two children, none of them a split of the same axis but a stack, and as
// many weights, all within 1 and MaxWeight; pane and tab ids are unique; each tab's focus is one of its panes, and of those that show;
// Active is a tab's index; at most MaxTabs tabs, MaxPanes panes per tab,
// MaxTotal in all, MaxDepth levels. A layout without tabs is legal: the
// interface decides what that means.
//
// The document (the layout channel's state) is JSON of Version 1. Members that
// this version doesn't know are kept where they are, so that what a newer tandemux
// adds survives an older one that shares the layout, as floats do.
package layout
