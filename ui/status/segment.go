package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/internal/config/option"
	"tandemux/ui/look"
)

// Segment is a kind of content of the line.
type Segment struct {
	Name string // lower case; it never changes
	Doc  string // one sentence

	fit   fit
	rank  int // segments with a lower rank get room first
	share int // on the left it gets at most 1/share of the line
	text  func(*Data) string
	style func(*Data, *look.Look) look.Style
}

// fit says how a segment is shortened.
type fit uint8

const (
	whole    fit = iota // not at all: it is left out
	cutEnd              // shortened at its end
	cutFront            // shortened at its front
	elastic             // the tabs: they get the rest, around the active one
)

// claimRank is the rank of the claim. Segments after it make room for the first hints.
const claimRank = 1

// lastRank is the rank of the segments that are left out first.
const lastRank = 8

// leastEnd is the smallest width, in cells, of a segment that is shortened at its end.
const leastEnd = 6

// leastFront is the smallest width, in cells, of a segment that is shortened at its front.
const leastFront = 10

var segments = []Segment{
	{"layout", "The layout's name.", cutEnd, 2, 4, func(d *Data) string { return d.Layout }, func(_ *Data, l *look.Look) look.Style { return l.StatusLayout }},
	{"tabs", "The tabs, Z where a pane is zoomed. Click them.", elastic, 0, 0, nil, nil},
	{"prefix", "The keys of a chord pressed so far.", cutEnd, 0, 1, func(d *Data) string { return d.Pending }, func(_ *Data, l *look.Look) look.Style { return l.Prefix }},
	{"mode", "What keys do now, when it isn't the usual: `copy`.", cutEnd, 0, 1, func(d *Data) string { return d.Mode }, func(_ *Data, l *look.Look) look.Style { return l.Warn }},
	{"title", "The pane's name, or its terminal's title.", cutEnd, 5, 3, func(d *Data) string { return d.Title }, plain},
	{
		"attention", "What another terminal has to tell you, and how many more do.",
		cutEnd, 1, 2, func(d *Data) string { return d.Alert }, func(d *Data, l *look.Look) look.Style { return d.AlertStyle },
	},
	{"clients", "How many clients show this layout, if there are others.", whole, 2, 4, func(d *Data) string { return when(d.Clients > 1, "%d clients", d.Clients) }, muted},
	{
		"claim", "Who holds the terminal and what for.", cutEnd, claimRank, 3,
		func(d *Data) string { return d.Badge }, func(d *Data, l *look.Look) look.Style { return onStatus(d.BadgeStyle, l) },
	},
	{
		"command", "How the last command did, and how long it took.", whole, 2, 3,
		func(d *Data) string { return d.Command }, func(d *Data, l *look.Look) look.Style { return onStatus(d.CommandStyle, l) },
	},
	{"cwd", "The working directory.", cutFront, 3, 3, func(d *Data) string { return d.Cwd }, muted},
	{"git", "The directory's branch, with * where tracked files were changed; on this machine.", cutEnd, 3, 3, func(d *Data) string { return d.Git }, plain},
	{"script", "The first line that status-command prints.", cutEnd, 4, 3, func(d *Data) string { return d.Script }, plain},
	{"battery", "How full this machine's battery is, + while it charges.", whole, 4, 4, func(d *Data) string { return d.Battery }, plain},
	{"host", "The machine that the terminals run on.", whole, 6, 4, func(d *Data) string { return d.Host }, muted},
	{
		"panes", "Which of the tab's panes has the focus: `2/4`.", whole, 7, 4,
		func(d *Data) string { return when(d.Panes > 1, "%d/%d", d.Pane, d.Panes) }, muted,
	},
	{"size", "The terminal's columns and rows.", whole, 8, 4, func(d *Data) string { return when(d.Cols > 0, "%dx%d", d.Cols, d.Rows) }, muted},
	{
		"scroll", "How many lines the pane is scrolled back: `120/4000`.", whole, 4, 4,
		func(d *Data) string { return when(d.Scroll > 0, "%d/%d", d.Scroll, d.History) }, plain,
	},
	{"time", "The time of day, to the minute.", whole, 4, 4, func(d *Data) string { return d.Time }, plain},
	{"date", "The date: `2026-11-20`.", whole, 5, 4, func(d *Data) string { return d.Date }, muted},
}

// when returns the text if is is true, else "".
func when(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func plain(_ *Data, l *look.Look) look.Style { return l.Status }
func muted(_ *Data, l *look.Look) look.Style { return l.StatusMuted }

// onStatus returns a style with the line's background.
func onStatus(s look.Style, l *look.Look) look.Style {
	s.BG = l.Status.BG
	s.FG = cmp.Or(s.FG, l.Status.FG) // the default colour fits only the default background
	s.Attrs |= l.Status.Attrs
	return s
}

// Segments returns the segments in the order of the documentation. The caller may modify the
// slice.
func Segments() []Segment { return slices.Clone(segments) }

// Names returns the segments' names in that order.
func Names() []string {
	var names []string
	for _, s := range Segments() {
		names = append(names, s.Name)
	}
	return names
}

// Left and Right are the default segments.
var (
	Left  = []string{"prefix|mode|layout", "tabs"}
	Right = []string{"attention", "clients", "script", "command", "claim", "cwd"}
)

// Line is the choice of segments. The zero Line is the default one.
type Line struct {
	left, right []slot
	names       []string // of all segments
}

// slot is a place in the line. It shows its first segment with a text.
type slot []*Segment

// maxSlots is the largest number of slots on a side.
const maxSlots = 32

// Compose makes a Line of segments' names. "prefix|layout" is a slot of two segments.
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
				line.names = append(line.names, seg.Name)
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
		i := slices.Index(Names(), strings.TrimSpace(name))
		switch {
		case i < 0:
			return nil, fmt.Errorf("there is no segment %q; there are %s", strings.TrimSpace(name), strings.Join(Names(), ", "))
		case segments[i].fit == elastic && len(names) > 1:
			return nil, fmt.Errorf("%s: tabs always have something to say, so they can't share a place", item)
		}
		s = append(s, &segments[i])
	}
	return s, nil
}

// Has reports whether one of the segments is in the line.
func (l Line) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(l.names, name) })
}

// standard is the default line.
var standard = func() Line {
	l, err := Compose(Left, Right)
	if err != nil {
		panic("status: " + err.Error())
	}
	return l
}()

// Content configures what the line shows.
type Content struct {
	StatusLeft, StatusRight []string // segments (Compose); nil means the default ones
	Clock                   string   // "24h" or "12h"; empty means "24h"
	Position                string   // "bottom" or "top"; empty means "bottom"

	Script string        // a line for sh whose output is the segment script; empty means none
	Every  time.Duration // time between runs of Script
}

// Options returns the options, whose values are stored in s.
func (s *Content) Options() []option.Option {
	hint := "Segments: " + strings.Join(Names(), ", ") + "."
	return []option.Option{
		{
			Name: "status-left", Value: option.Default(&s.StatusLeft, slices.Clone(Left)), Hint: hint,
			Doc:   `Segments on the left of the status line. "a|b" is the first that has something to say.`,
			Check: option.Faulty(func() error { _, err := Compose(s.StatusLeft, nil); return err }),
		},
		{
			Name: "status-right", Value: option.Default(&s.StatusRight, slices.Clone(Right)), Hint: hint,
			Doc:   `Those on its right.`,
			Check: option.Faulty(func() error { _, err := Compose(s.StatusLeft, s.StatusRight); return err }),
		},
		{
			Name: "clock", Value: option.Default(&s.Clock, "24h"), Choices: []string{"24h", "12h"},
			Doc: `The form of the segment time.`,
		},
		{
			Name: "status-position", Value: option.Default(&s.Position, "bottom"), Choices: []string{"bottom", "top"},
			Doc: `Where the status line is.`,
		},
		{
			Name: "status-command", Value: &s.Script,
			Doc: `A line for sh, such as "uptime -p". What it prints first is the segment script: docs/scripting.md.`,
		},
		{
			Name: "status-interval", Value: option.Default(&s.Every, 15*time.Second), Min: 1, Max: 24 * 60 * 60,
			Doc: `After how many seconds it runs again.`,
		},
	}
}
