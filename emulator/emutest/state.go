package emutest

import (
	"cmp"
	"flag"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// Update has goldens written anew: one flag for all of them.
var Update = flag.Bool("update", false, "write the checking sections of golden screens anew")

// New makes an engine to test.
type New func(emulator.Options) emulator.Emulator

// colorName is a colour as attrs has it.
func colorName(c emulator.Color) string {
	if i, ok := c.Index(); ok {
		return strconv.Itoa(int(i))
	}
	return cmp.Or(c.Hex(), "default")
}

var attrNames = []struct {
	bit  emulator.Attrs
	name string
}{
	{emulator.Bold, "bold"},
	{emulator.Faint, "faint"},
	{emulator.Italic, "italic"},
	{emulator.Blink, "blink"},
	{emulator.Reverse, "reverse"},
	{emulator.Conceal, "conceal"},
	{emulator.Strike, "strike"},
	{emulator.Overline, "overline"},
	{emulator.Protected, "protected"},
}

var underlineNames = []string{"", "underline", "double", "curly", "dotted", "dashed"}

// styleName is a style and link as attrs has it; "" for the default.
func styleName(c emulator.Cell) string {
	var words []string
	for _, a := range attrNames {
		if c.Style.Attrs&a.bit != 0 {
			words = append(words, a.name)
		}
	}
	if u := int(c.Style.Underline); u > 0 && u < len(underlineNames) {
		words = append(words, underlineNames[u])
	}
	for _, f := range []struct {
		name string
		c    emulator.Color
	}{{"fg", c.Style.FG}, {"bg", c.Style.BG}, {"ul", c.Style.UnderlineColor}} {
		if !f.c.IsDefault() {
			words = append(words, f.name+"="+colorName(f.c))
		}
	}
	if c.Link != "" {
		words = append(words, "link="+strconv.Quote(c.Link))
	}
	if c.LinkID != "" {
		words = append(words, "id="+strconv.Quote(c.LinkID))
	}
	return strings.Join(words, " ")
}

// row is line y between bars.
func row(e emulator.Emulator, y int) string {
	cols, _ := e.Size()
	var b strings.Builder
	b.WriteByte('|')
	cells := e.Line(y, nil)
	emulator.Caption(e, cells)
	for _, c := range cells {
		switch {
		case c.Width == 0 && c.Rune == 0:
		case c.Rune == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.Rune)
			b.WriteString(c.Combining)
		}
	}
	for n := len(cells); n < cols; n++ {
		b.WriteByte(' ')
	}
	b.WriteByte('|')
	if e.Wrapped(y) {
		b.WriteByte('~')
	}
	return b.String()
}

// cursorLine is the cursor as the first line of a screen has it.
func cursorLine(c emulator.Cursor) string {
	s := fmt.Sprintf("cursor %d,%d", c.X, c.Y)
	if !c.Visible {
		s += " hidden"
	}
	if c.Default {
		return s
	}
	s += " " + []string{"block", "underline", "bar"}[min(int(c.Shape), 2)]
	if c.Blink {
		s += " blink"
	}
	return s
}

// Screen is the screen section of e.
func Screen(e emulator.Emulator) string {
	var b strings.Builder
	fmt.Fprintln(&b, cursorLine(e.Cursor()))
	_, rows := e.Size()
	for y := range rows {
		fmt.Fprintln(&b, row(e, y))
	}
	return b.String()
}

// History is the history section of e.
func History(e emulator.Emulator) string {
	var b strings.Builder
	for y := -e.HistoryLen(); y < 0; y++ {
		fmt.Fprintln(&b, row(e, y))
	}
	return b.String()
}

// Attrs is the attrs section of e: runs of cells in one style, the default
// one left out.
func Attrs(e emulator.Emulator) string {
	var b strings.Builder
	_, rows := e.Size()
	for y := -e.HistoryLen(); y < rows; y++ {
		cells := e.Line(y, nil)
		for x := 0; x < len(cells); {
			name := styleName(cells[x])
			end := x + 1
			for end < len(cells) && styleName(cells[end]) == name {
				end++
			}
			if name != "" {
				fmt.Fprintf(&b, "%d:%d-%d %s\n", y, x, end-1, name)
			}
			x = end
		}
	}
	return b.String()
}

// PrintedTabs is the tabs section of e: where each begins and how many columns it took.
func PrintedTabs(e emulator.Emulator) string {
	var b strings.Builder
	_, rows := e.Size()
	for y := -e.HistoryLen(); y < rows; y++ {
		for x, c := range e.Line(y, nil) {
			if c.Tab > 0 {
				fmt.Fprintf(&b, "%d:%d %d\n", y, x, c.Tab)
			}
		}
	}
	return b.String()
}

// Modes is the modes section: what is set. Graphemes is left out, since it is
// set from the start in engines that know clusters.
func Modes(m emulator.Modes) string {
	var b strings.Builder
	for f, v := range reflect.ValueOf(m).Fields() {
		switch name := strings.ToLower(hump.ReplaceAllString(f.Name, "$1-$2")); {
		case v.IsZero() || f.Name == "Graphemes":
		case v.Kind() == reflect.Bool:
			fmt.Fprintln(&b, name)
		default:
			fmt.Fprintf(&b, "%s=%v\n", name, v.Interface())
		}
	}
	return b.String()
}

// hump is where a word of a name ends.
var hump = regexp.MustCompile("([a-z])([A-Z])")

var eventNames = map[emulator.EventKind]string{
	emulator.EventReply:     "reply",
	emulator.EventTitle:     "title",
	emulator.EventBell:      "bell",
	emulator.EventCwd:       "cwd",
	emulator.EventClipboard: "clipboard",
	emulator.EventNotify:    "notify",
	emulator.EventProgress:  "progress",
	emulator.EventMark:      "mark",
	emulator.EventResize:    "resize",
}

// eventLine is one event as the events section has it.
func eventLine(ev emulator.Event) string {
	s := eventNames[ev.Kind]
	if ev.Name != "" {
		s += " name=" + strconv.Quote(ev.Name)
	}
	if ev.Kind == emulator.EventResize {
		return fmt.Sprintf("%s %dx%d", s, ev.Cols, ev.Rows)
	}
	if ev.Text != "" || ev.Kind != emulator.EventBell {
		s += " " + strconv.Quote(ev.Text)
	}
	return s
}

// Pictures is the pictures of e, where each begins on each line.
func Pictures(e emulator.Emulator) string {
	var b strings.Builder
	_, rows := e.Size()
	for y := -e.HistoryLen(); y < rows; y++ {
		var last emulator.Placeholder
		emulator.Placeholders(e.Line(y, nil), func(x int, p emulator.Placeholder) {
			if p.Col != last.Col+1 || p.Row != last.Row || p.ID != last.ID || p.Own != last.Own {
				pic, ok := emulator.PictureOf(e, p)
				fmt.Fprintf(&b, "%d:%d row %d, column %d of ", y, x, p.Row, p.Col)
				if ok {
					im := pic.Image
					fmt.Fprintf(&b, "%d×%d, %d×%d+%d+%d of %d×%d", pic.Cols, pic.Rows, pic.Width, pic.Height, pic.X, pic.Y, im.Width, im.Height)
					if im.Data == nil {
						b.WriteString(" lost")
					}
					if m := pic.Motion; m != nil {
						fmt.Fprintf(&b, ", moving %v", m.Play)
						for _, s := range m.Steps {
							fmt.Fprintf(&b, " [%s %d]", s.Keys, len(s.Data))
						}
					}
				} else {
					b.WriteString("nothing")
				}
				b.WriteByte('\n')
			}
			last = p
		})
	}
	return b.String()
}

// Dump is everything that can be seen of e, except events and damage, as text:
// two engines with equal dumps look and behave alike.
func Dump(e emulator.Emulator) string {
	cols, rows := e.Size()
	p := e.Palette()
	var b strings.Builder
	fmt.Fprintf(&b, "size %dx%d title %q\n", cols, rows, e.Title())
	b.WriteString(Screen(e))
	fmt.Fprintf(&b, "history %d\n%s", e.HistoryLen(), History(e))
	fmt.Fprintf(&b, "attrs\n%s", Attrs(e))
	fmt.Fprintf(&b, "tabs\n%s", PrintedTabs(e))
	fmt.Fprintf(&b, "pictures\n%s", Pictures(e))
	fmt.Fprintf(&b, "modes graphemes=%v\n%s", e.Modes().Graphemes, Modes(e.Modes()))
	fmt.Fprintf(&b, "palette fg=%s bg=%s cursor=%s\n", colorName(p.FG), colorName(p.BG), colorName(p.Cursor))
	for i := range 256 {
		if c, ok := p.Indexed[uint8(i)]; ok {
			fmt.Fprintf(&b, "palette %d=%s\n", i, colorName(c))
		}
	}
	return b.String()
}

// Diff shows the lines in which two dumps differ, "" when they are equal.
func Diff(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	for i, shown := 0, 0; i < max(len(g), len(w)) && shown < 20; i++ {
		var gl, wl string
		if i < len(g) {
			gl = g[i]
		}
		if i < len(w) {
			wl = w[i]
		}
		if gl != wl {
			fmt.Fprintf(&b, "line %d\n  got  %s\n  want %s\n", i+1, gl, wl)
			shown++
		}
	}
	return b.String()
}
