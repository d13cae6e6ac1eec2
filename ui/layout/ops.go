package layout

import "cotty/ahp"

// The area that operations take is where the tab is drawn; it keeps panes that
// have nothing to do with the operation from moving. The zero Rect means
// unknown.

// NewTab appends a tab with one pane and makes it active.
func (l Layout) NewTab(uri ahp.URI) (Layout, PaneID, error) { return l, "", nil }

// Split puts a new pane beside the pane and focuses it.
func (l Layout) Split(area Rect, at PaneID, d Direction, uri ahp.URI) (Layout, PaneID, error) {
	return l, "", nil
}

// Close takes the pane out; with its last pane the tab goes too.
func (l Layout) Close(area Rect, id PaneID) Layout { return l }

// RemoveTerminal closes the panes that show it.
func (l Layout) RemoveTerminal(area Rect, uri ahp.URI) Layout { return l }

// Prune closes the panes whose terminal is not alive.
func (l Layout) Prune(area Rect, alive func(ahp.URI) bool) Layout { return l }

// FocusPane focuses the pane and activates its tab.
func (l Layout) FocusPane(id PaneID) Layout { return l }

// Focus moves the focus to the neighbour; without one nothing changes.
func (l Layout) Focus(area Rect, d Direction) Layout { return l }

// FocusNext moves the focus n panes on in order, around the end.
func (l Layout) FocusNext(n int) Layout { return l }

// FocusLast goes back to the pane focused before.
func (l Layout) FocusLast() Layout { return l }

// GoTab activates a tab by index; out of range nothing changes.
func (l Layout) GoTab(i int) Layout { return l }

// NextTab activates the tab n further, around the end.
func (l Layout) NextTab(n int) Layout { return l }

// LastTab goes back to the tab active before.
func (l Layout) LastTab() Layout { return l }

// CloseTab takes the tab out with its panes.
func (l Layout) CloseTab(i int) Layout { return l }

// MoveTab puts tab i at place to.
func (l Layout) MoveTab(i, to int) Layout { return l }

// RenamePane, RenameTab set the name; "" takes it away.
func (l Layout) RenamePane(id PaneID, name string) Layout { return l }
func (l Layout) RenameTab(i int, name string) Layout      { return l }

// Show replaces the terminal of a pane.
func (l Layout) Show(id PaneID, uri ahp.URI) Layout { return l }

// Zoom toggles whether only the active tab's focused pane is shown.
func (l Layout) Zoom() Layout { return l }

// Resize moves the pane's border by n cells in the direction, as tmux does: the
// far one, or the near one where the pane ends its split.
func (l Layout) Resize(area Rect, id PaneID, d Direction, n int) Layout { return l }

// Drag moves an edge to a cell.
func (l Layout) Drag(area Rect, e Edge, x, y int) Layout { return l }

// Even gives the active tab's panes equal shares.
func (l Layout) Even() Layout { return l }

// Apply arranges the active tab's panes by a preset.
func (l Layout) Apply(p Preset) Layout { return l }

// NextPreset applies the preset after the last one that fits the area.
func (l Layout) NextPreset(area Rect) Layout { return l }

// Swap exchanges the places of two panes.
func (l Layout) Swap(a, b PaneID) Layout { return l }

// SwapNext exchanges the pane with the one n further in its tab.
func (l Layout) SwapNext(id PaneID, n int) Layout { return l }

// Move takes the pane out and puts it beside another, of any tab.
func (l Layout) Move(area Rect, id, beside PaneID, d Direction) (Layout, error) { return l, nil }

// BreakOut makes a tab of the pane, after the one it was in.
func (l Layout) BreakOut(area Rect, id PaneID) (Layout, error) { return l, nil }

// Neighbour gives the pane that Focus would go to from the pane.
func (t Tab) Neighbour(area Rect, from PaneID, d Direction) (PaneID, bool) { return "", false }

// CanSplit says whether both halves would have room.
func (t Tab) CanSplit(area Rect, at PaneID, d Direction) bool { return false }
