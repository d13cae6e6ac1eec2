package layoutfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/pelletier/go-toml/v2"

	"tandemux/ahp"
	"tandemux/internal/config/strict"
	"tandemux/ui/layout"
)

// File is a layout for people: what to start and where, without terminals.
type File struct {
	Tabs []Tab `toml:"tab"`
}

type Tab struct {
	Name   string `toml:"name,omitempty"`
	Active bool   `toml:"active,omitempty" comment:"the one that shows"`
	Zoom   bool   `toml:"zoom,omitempty" comment:"only the focused pane shows"`
	Hidden bool   `toml:"hidden,omitempty" comment:"the floats don't show"`
	Split  string `toml:"split,omitempty" comment:"row: side by side; column: one above the other; stack: one open, of the others the headers"`
	Panes  []Pane `toml:"pane"`
	Floats []Pane `toml:"float,omitempty"`
}

// Pane is a pane, or a split if it has panes.
type Pane struct {
	Name    string    `toml:"name,omitempty"`
	Cwd     string    `toml:"cwd,omitempty"`
	Command []string  `toml:"command,omitempty"`
	Focus   bool      `toml:"focus,omitempty"`
	Open    bool      `toml:"open,omitempty"` // it is the open pane of its stack and has no focus
	Size    int       `toml:"size,omitempty"`
	Place   []float64 `toml:"place,omitempty,inline"` // a float's
	Split   string    `toml:"split,omitempty"`
	Panes   []Pane    `toml:"pane,omitempty"`
}

// layoutHead is the comment at the top of a saved layout.
const layoutHead = `# A layout of tandemux: tandemux layout load opens it again.
# Panes lie in a row (side by side), a column or a stack; size is a share of the split, the
# place of a float is left, top, width and height in percent. A pane without a
# command runs the shell; cwd may be relative to this file.

`

func (f File) Format() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(layoutHead)
	e := toml.NewEncoder(&b)
	e.SetIndentTables(true)
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("write the layout: %w", err)
	}
	return b.Bytes(), nil
}

// Parse parses a file. Unknown keys are errors.
func Parse(r io.Reader) (File, error) {
	var f File
	doc, err := io.ReadAll(io.LimitReader(r, layout.MaxBytes+1))
	if err != nil {
		return f, err
	}
	if len(doc) > layout.MaxBytes {
		return f, fmt.Errorf("it is larger than %d KiB", layout.MaxBytes>>10)
	}
	if err := strict.Decode(doc, &f, "a layout"); err != nil {
		return f, err
	}
	if len(f.Tabs) == 0 {
		return f, errors.New("it has no [[tab]]")
	}
	return f, nil
}

// Saving makes a File of a layout. Describe returns what a terminal's pane starts and where, and
// its name.
type Saving struct {
	Describe func(ahp.URI) Pane
	tab      layout.Tab
}

func (s Saving) File(l layout.Layout) File {
	var f File
	for i, t := range l.Tabs {
		s.tab = t
		tab := Tab{Name: t.Name, Active: i == l.Active && len(l.Tabs) > 1, Zoom: t.Zoom, Hidden: t.Hidden}
		root := s.pane(t.Root)
		tab.Split, tab.Panes = root.Split, root.Panes
		if len(root.Panes) == 0 {
			tab.Panes = []Pane{root}
		}
		for _, fl := range t.Floats {
			p := s.pane(fl.Leaf)
			for _, share := range []int{fl.X, fl.Y, fl.W, fl.H} {
				p.Place = append(p.Place, float64(share)/100)
			}
			tab.Floats = append(tab.Floats, p)
		}
		if len(tab.Panes) == 1 && len(tab.Floats) == 0 {
			tab.Panes[0].Focus = false // it is the only pane
		}
		f.Tabs = append(f.Tabs, tab)
	}
	return f
}

// stack is the value of Split for a stack.
const stack = "stack"

func (s Saving) pane(n *layout.Node) Pane {
	if len(n.Children) == 0 {
		p := s.Describe(n.Terminal)
		p.Name, p.Focus = cmp.Or(n.Name, p.Name), n.Pane == s.tab.Focus
		return p
	}
	p := Pane{Split: string(n.Axis)}
	if n.Stack {
		p.Split = stack
	}
	for i, c := range n.Children {
		kid := s.pane(c)
		kid.Open = n.Stack && i > 0 && !kid.Focus && s.tab.Open(n) == c
		kid.Size = n.Weights[i]
		p.Panes = append(p.Panes, kid)
	}
	return p
}

// Loading makes tabs of a File. Open is called for each pane and returns its terminal, to
// which it gives the pane's name.
type Loading struct {
	Open  func(p Pane) ahp.URI
	panes int
	focus layout.PaneID
	open  []layout.PaneID // the open panes of the tab's stacks
}

// Tabs returns a layout with the file's tabs, checked by layout.Decode.
func (ld *Loading) Tabs(f File) (layout.Layout, error) {
	l := layout.New("")
	for i, t := range f.Tabs {
		ld.focus, ld.open = "", nil
		root, err := ld.node(Pane{Split: t.Split, Panes: t.Panes}, 1)
		if err != nil {
			return l, fmt.Errorf("tab %d: %w", i+1, err)
		}
		tab := layout.Tab{ID: fmt.Sprintf("t%d", i+1), Name: t.Name, Root: root, Zoom: t.Zoom, Hidden: t.Hidden}
		for _, p := range t.Floats {
			fl, err := ld.float(p)
			if err != nil {
				return l, fmt.Errorf("tab %d: %w", i+1, err)
			}
			tab.Floats = append(tab.Floats, fl)
		}
		tab.Focus, tab.Recent = ld.focus, ld.open
		l.Tabs = append(l.Tabs, tab)
		if t.Active {
			l.Active = i
		}
	}
	return layout.Decode(l.Encode())
}

func (ld *Loading) node(p Pane, depth int) (*layout.Node, error) {
	switch {
	case depth > layout.MaxDepth:
		return nil, fmt.Errorf("panes are split more than %d levels deep", layout.MaxDepth-1)
	case len(p.Panes) == 1:
		return ld.node(p.Panes[0], depth+1)
	case len(p.Panes) == 0 && (depth == 1 || p.Split != ""):
		return nil, errors.New("a split has no [[pane]]")
	case len(p.Panes) == 0:
		return ld.leaf(p), nil
	case len(p.Command) > 0 || p.Cwd != "" || p.Name != "" || p.Focus:
		return nil, errors.New("a pane has panes: its name, cwd, command and focus belong to those")
	}
	n := &layout.Node{Axis: layout.Axis(p.Split)}
	switch p.Split {
	case "":
		n.Axis = layout.Row
	case stack:
		n.Axis, n.Stack = layout.Column, true
	}
	for _, c := range p.Panes {
		kid, err := ld.node(c, depth+1)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, kid)
		n.Weights = append(n.Weights, max(c.Size, 1))
		if n.Stack && len(kid.Children) > 0 {
			return nil, errors.New("a stack has panes alone, which are not split")
		}
	}
	return n, nil
}

func (ld *Loading) leaf(p Pane) *layout.Node {
	ld.panes++
	n := &layout.Node{Pane: layout.PaneID(fmt.Sprintf("p%d", ld.panes)), Terminal: ld.Open(p)}
	if p.Focus {
		ld.focus = n.Pane
	}
	if p.Open {
		ld.open = append(ld.open, n.Pane)
	}
	return n
}

func (ld *Loading) float(p Pane) (layout.Float, error) {
	if len(p.Panes) > 0 || p.Split != "" {
		return layout.Float{}, errors.New("a float can't be split")
	}
	if len(p.Place) == 0 {
		p.Place = []float64{20, 20, 60, 60}
	}
	if len(p.Place) != 4 {
		return layout.Float{}, errors.New("a float's place is left, top, width and height in percent")
	}
	var share [4]int
	for i, v := range p.Place {
		if !(v >= 0 && v <= 100) {
			return layout.Float{}, fmt.Errorf("%g in a float's place is not from 0 to 100", v)
		}
		share[i] = int(math.Round(v * layout.Whole / 100))
	}
	return layout.Float{Leaf: ld.leaf(p), X: share[0], Y: share[1], W: share[2], H: share[3]}, nil
}
