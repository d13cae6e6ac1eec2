// Package layout is the arrangement of panes as a value: a layout has tabs, a
// tab is a tree of splits with panes as leaves. The operations are pure and
// give a new Layout; trees share what did not change, so no field of a value
// may be written to once it was made. Arrange turns a tab into rectangles.
package layout
