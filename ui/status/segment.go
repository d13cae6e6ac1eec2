package status

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/ui/look"
)

// Segment is a row of the table of what the line can show.
type Segment struct {
	Name string // stable, lower case
	Doc  string // one sentence

	fit   fit
	rank  int // who gets room first when there is little: the lowest
	share int // on the left, at most one of so many parts of the line
	text  func(*Data) string
	style func(*Data, *look.Look) look.Style
	ticks bool // it changes with the clock
}

// fit is how a segment is made to fit.
type fit uint8

const (
	whole    fit = iota // shown in full or not at all
	cutEnd              // shortened at its end
	cutFront            // shortened at its front
	elastic             // the tabs: what is left over, around the active one
)

// claimRank is the claim's: what comes after it gives way to the first hints.
const claimRank = 1

// leastEnd is the least room that something shortened at its end is shown in, in
// cells.
const leastEnd = 6

// leastFront is the least room that something shortened at its front is shown
// in, in cells.
const leastFront = 10

var segments = []Segment{
	{
		Name: "layout", Doc: "The layout's name.", fit: cutEnd, rank: 2, share: 4,
		text: func(d *Data) string { return d.Layout }, style: func(_ *Data, l *look.Look) look.Style { return l.StatusLayout },
	},
	{
		Name: "tabs", Doc: "The tabs with number, name and Z when a pane is zoomed; those that fit around the active one. They can be clicked.",
		fit: elastic,
	},
	{
		Name: "prefix", Doc: "The keys of a chord pressed so far.", fit: cutEnd, rank: 0, share: 1,
		text: func(d *Data) string { return d.Pending }, style: func(_ *Data, l *look.Look) look.Style { return l.Prefix },
	},
	{
		Name: "mode", Doc: "What keys do now, when it isn't the usual: `copy`.", fit: cutEnd, rank: 0, share: 1,
		text: func(d *Data) string { return d.Mode }, style: func(_ *Data, l *look.Look) look.Style { return l.Warn },
	},
	{
		Name: "title", Doc: "The focused pane's name, or its terminal's title.", fit: cutEnd, rank: 5, share: 3,
		text: func(d *Data) string { return d.Title }, style: plain,
	},
	{
		Name: "attention", Doc: "What another terminal has to tell you: which one, what, and how many more there are. The option `attention` says what counts.", fit: cutEnd, rank: 1, share: 2,
		text:  func(d *Data) string { return d.Alert },
		style: func(d *Data, l *look.Look) look.Style { return d.AlertStyle },
	},
	{
		Name: "clients", Doc: "How many clients show this layout, when there are others: `2 clients`.", fit: whole, rank: 2, share: 4,
		text: func(d *Data) string {
			if d.Clients < 2 {
				return ""
			}
			return fmt.Sprintf("%d clients", d.Clients)
		}, style: muted,
	},
	{
		Name: "claim", Doc: "Who holds the focused terminal and what for.", fit: cutEnd, rank: claimRank, share: 3,
		text:  func(d *Data) string { return d.Badge },
		style: func(d *Data, l *look.Look) look.Style { return onStatus(d.BadgeStyle, l) },
	},
	{
		Name: "command", Doc: "How the focused terminal's last command did, and how long it took.", fit: whole, rank: 2, share: 3,
		text:  func(d *Data) string { return d.Command },
		style: func(d *Data, l *look.Look) look.Style { return onStatus(d.CommandStyle, l) },
	},
	{
		Name: "cwd", Doc: "The focused terminal's working directory.", fit: cutFront, rank: 3, share: 3,
		text: func(d *Data) string { return d.Cwd }, style: muted,
	},
	{
		Name: "host", Doc: "The machine that the terminals run on.", fit: whole, rank: 6, share: 4,
		text: func(d *Data) string { return d.Host }, style: muted,
	},
	{
		Name: "panes", Doc: "Which of the tab's panes has the focus, of how many: `2/4`; nothing for one alone.", fit: whole, rank: 7, share: 4,
		text: func(d *Data) string {
			if d.Panes < 2 {
				return ""
			}
			return fmt.Sprintf("%d/%d", d.Pane, d.Panes)
		}, style: muted,
	},
	{
		Name: "size", Doc: "The focused terminal's columns and rows.", fit: whole, rank: 8, share: 4,
		text: func(d *Data) string {
			if d.Cols == 0 {
				return ""
			}
			return fmt.Sprintf("%dx%d", d.Cols, d.Rows)
		}, style: muted,
	},
	{
		Name: "scroll", Doc: "How many lines the focused pane is scrolled back, of how many: `120/4000`; nothing at the end.", fit: whole, rank: 4, share: 4,
		text: func(d *Data) string {
			if d.Scroll == 0 {
				return ""
			}
			return fmt.Sprintf("%d/%d", d.Scroll, d.History)
		}, style: plain,
	},
	{
		Name: "time", Doc: "The time of day, to the minute.", fit: whole, rank: 4, share: 4, ticks: true,
		text: func(d *Data) string { return d.Time }, style: plain,
	},
	{
		Name: "date", Doc: "The date: `2026-11-20`.", fit: whole, rank: 5, share: 4, ticks: true,
		text: func(d *Data) string { return d.Date }, style: muted,
	},
}

func plain(_ *Data, l *look.Look) look.Style { return l.Status }
func muted(_ *Data, l *look.Look) look.Style { return l.StatusMuted }

// onStatus puts a style onto the line's ground.
func onStatus(s look.Style, l *look.Look) look.Style {
	s.BG = l.Status.BG
	if s.FG == 0 {
		s.FG = l.Status.FG // the default one is meant for the default ground
	}
	s.Attrs |= l.Status.Attrs
	return s
}

// Segments gives the table in the order of the documentation. The slice is the
// caller's.
func Segments() []Segment { return slices.Clone(segments) }

func find(name string) *Segment {
	for i := range segments {
		if segments[i].Name == name {
			return &segments[i]
		}
	}
	return nil
}

// Left and Right are what the line shows when nothing else is configured.
var (
	Left  = []string{"prefix|mode|layout", "tabs"}
	Right = []string{"attention", "clients", "command", "claim", "cwd"}
)

// Line is the choice of segments. The zero Line is the default one.
type Line struct {
	left, right []slot
	ticks       bool
}

// slot is a place in the line, in which the first segment shows that has
// something to say.
type slot []*Segment

// maxSlots bounds the slots of a side.
const maxSlots = 32

// Compose makes a line of segments' names; "prefix|layout" shows the first that
// has something to say.
func Compose(left, right []string) (Line, error) {
	var line Line
	tabs := 0
	for _, side := range []struct {
		from []string
		to   *[]slot
	}{{left, &line.left}, {right, &line.right}} {
		if len(side.from) > maxSlots {
			return Line{}, fmt.Errorf("%d segments are too many; at most %d on a side", len(side.from), maxSlots)
		}
		*side.to = make([]slot, 0, len(side.from))
		for _, item := range side.from {
			s, err := parseSlot(item)
			if err != nil {
				return Line{}, err
			}
			for _, seg := range s {
				line.ticks = line.ticks || seg.ticks
				if seg.fit == elastic {
					tabs++
				}
			}
			*side.to = append(*side.to, s)
		}
	}
	if tabs > 1 {
		return Line{}, fmt.Errorf("tabs can be shown once only")
	}
	return line, nil
}

func parseSlot(item string) (slot, error) {
	var s slot
	names := strings.Split(item, "|")
	for _, name := range names {
		seg := find(strings.TrimSpace(name))
		switch {
		case seg == nil:
			var all []string
			for _, known := range segments {
				all = append(all, known.Name)
			}
			return nil, fmt.Errorf("there is no segment %q; there are %s", strings.TrimSpace(name), strings.Join(all, ", "))
		case seg.fit == elastic && len(names) > 1:
			return nil, fmt.Errorf("%s: tabs always have something to say, so they can't share a place", item)
		}
		s = append(s, seg)
	}
	return s, nil
}

// Ticks reports whether the line has to be drawn anew with each minute.
func (l Line) Ticks() bool { return l.ticks }

// standard is the default line.
var standard = func() Line {
	l, err := Compose(Left, Right)
	if err != nil {
		panic("status: " + err.Error())
	}
	return l
}()
