package native

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
)

// alacrittyPolicy are recordings in which we differ from Alacritty on purpose.
var alacrittyPolicy = map[string]string{
	"decaln_reset":      "DECALN fills with the pen's background there, xterm's is in the default style",
	"selective_erasure": "DECSED and DECSEL, which are not there, do nothing; here they erase what isn't protected",
}

// What Alacritty's grid.json holds, as far as we compare it.
type (
	alaGrid struct {
		Columns, Lines int
		Raw            struct {
			Inner     []struct{ Inner []alaCell }
			Zero, Len int
		}
	}
	alaCell struct {
		C      string
		FG, BG json.RawMessage
		Flags  string
		Extra  *struct {
			Zerowidth      []string
			UnderlineColor json.RawMessage `json:"underline_color"`
			Hyperlink      *struct {
				Inner struct{ ID, URI string }
			}
		}
	}
)

// Alacritty's reference recordings, read from the directory that
// TANDEMUX_ALACRITTY_REF names (its alacritty_terminal/tests/ref), must give the
// same screens, colours, attributes and links.
func TestAlacrittyReference(t *testing.T) {
	dir := os.Getenv("TANDEMUX_ALACRITTY_REF")
	if dir == "" {
		t.Skip("TANDEMUX_ALACRITTY_REF is not set: no reference recordings to compare with")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "alacritty.recording"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	passed := 0
	for _, file := range names {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			diffs, err := alacrittyDiff(dir)
			if os.IsNotExist(err) {
				t.Skipf("incomplete: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(diffs) == 0 {
				passed++
				return
			}
			if why, ok := alacrittyPolicy[name]; ok {
				t.Skipf("policy: %s", why)
			}
			t.Errorf("%d cells differ:\n%s", len(diffs), strings.Join(diffs[:min(10, len(diffs))], "\n"))
		})
	}
	t.Logf("%d of %d recordings the same", passed, len(names))
}

func alacrittyDiff(dir string) ([]string, error) {
	var size struct {
		Columns     int
		ScreenLines int `json:"screen_lines"`
	}
	var config struct {
		HistorySize int `json:"history_size"`
	}
	var grid alaGrid
	for name, v := range map[string]any{"size.json": &size, "config.json": &config, "grid.json": &grid} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && len(text) == 0 {
			err = os.ErrNotExist
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	input, err := os.ReadFile(filepath.Join(dir, "alacritty.recording"))
	if err != nil {
		return nil, err
	}
	if config.HistorySize == 0 {
		config.HistorySize = -1
	}
	e := newEngine(emulator.Options{Cols: size.Columns, Rows: size.ScreenLines, History: config.HistorySize})
	e.Write(input)
	var diffs []string
	for y := grid.Lines - grid.Raw.Len; y < grid.Lines; y++ {
		row := grid.Raw.Inner[(grid.Raw.Zero+grid.Lines-y-1)%len(grid.Raw.Inner)].Inner
		cells := e.Line(y, nil)
		for x := range row {
			want, got := row[x].String(), emulator.Cell{Width: 1}
			if x < len(cells) {
				got = cells[x]
			}
			if s := alaString(got); s != want {
				diffs = append(diffs, fmt.Sprintf("%d,%d: %s, want %s", x, y, s, want))
			}
		}
	}
	return diffs, nil
}

// String is a cell in a form that both sides can be brought to.
func (c *alaCell) String() string {
	text := c.C
	if text == "\t" {
		text = " " // Tabs leave themselves in the cells they skip.
	}
	var flags []string
	for _, f := range strings.Split(c.Flags, " | ") {
		switch f {
		case "", "WRAPLINE", "WIDE_CHAR", "WIDE_CHAR_SPACER", "LEADING_WIDE_CHAR_SPACER":
		case "BOLD_ITALIC":
			flags = append(flags, "BOLD", "ITALIC")
		case "DIM_BOLD":
			flags = append(flags, "DIM", "BOLD")
		default:
			flags = append(flags, f)
		}
	}
	slices.Sort(flags)
	s := fmt.Sprintf("fg=%s bg=%s %s", alaColor(c.FG), alaColor(c.BG), strings.Join(flags, ","))
	if x := c.Extra; x != nil {
		text += strings.Join(x.Zerowidth, "")
		if len(x.UnderlineColor) > 0 && string(x.UnderlineColor) != "null" {
			s += " ul=" + alaColor(x.UnderlineColor)
		}
		if x.Hyperlink != nil {
			s += " link=" + x.Hyperlink.Inner.URI
		}
	}
	return fmt.Sprintf("%q %s", text, s)
}

var alaNames = []string{
	"Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White",
	"BrightBlack", "BrightRed", "BrightGreen", "BrightYellow", "BrightBlue", "BrightMagenta", "BrightCyan", "BrightWhite",
}

func alaColor(raw json.RawMessage) string {
	var c struct {
		Named   string
		Indexed *int
		Spec    *struct{ R, G, B int }
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return string(raw)
	}
	switch {
	case c.Spec != nil:
		return fmt.Sprintf("#%02x%02x%02x", c.Spec.R, c.Spec.G, c.Spec.B)
	case c.Indexed != nil:
		return fmt.Sprint(*c.Indexed)
	}
	if i := slices.Index(alaNames, c.Named); i >= 0 {
		return fmt.Sprint(i)
	}
	return "-"
}

func alaString(c emulator.Cell) string {
	text := " "
	if c.Rune != 0 {
		text = string(c.Rune) + c.Combining
	}
	color := func(c emulator.Color) string {
		if i, ok := c.Index(); ok {
			return fmt.Sprint(i)
		}
		if r, g, b, ok := c.RGB(); ok {
			return fmt.Sprintf("#%02x%02x%02x", r, g, b)
		}
		return "-"
	}
	var flags []string
	for i, name := range []string{"BOLD", "DIM", "ITALIC", "", "INVERSE", "HIDDEN", "STRIKEOUT", "", ""} {
		if c.Style.Attrs>>i&1 != 0 && name != "" {
			flags = append(flags, name)
		}
	}
	if u := c.Style.Underline; u != 0 {
		flags = append(flags, []string{"UNDERLINE", "DOUBLE_UNDERLINE", "UNDERCURL", "DOTTED_UNDERLINE", "DASHED_UNDERLINE"}[u-1])
	}
	slices.Sort(flags)
	s := fmt.Sprintf("fg=%s bg=%s %s", color(c.Style.FG), color(c.Style.BG), strings.Join(flags, ","))
	if c.Style.UnderlineColor != 0 {
		s += " ul=" + color(c.Style.UnderlineColor)
	}
	if c.Link != "" {
		s += " link=" + c.Link
	}
	return fmt.Sprintf("%q %s", text, s)
}
