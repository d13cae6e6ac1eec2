package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/emulator"
)

// Whole is a field of a table that is never cut.
type Whole string

// Cut is a field of a table that is cut only where a terminal has no room for it.
type Cut string

// Table prints rows below a head, whose titles are parted by tabs; nothing where
// there are no rows. row gives the fields of a row: a string is printed as Short does,
// a time as Moment does. On a terminal the longest columns are cut until lines fit.
func Table[T any](w io.Writer, head string, rows []T, row func(T) []any) error {
	if len(rows) == 0 {
		return nil
	}
	var lines [][]string
	var least []int
	if head != "" {
		lines = append(lines, strings.Split(head, "\t"))
	}
	for _, r := range rows {
		var line []string
		for i, field := range row(r) {
			title := "ID"
			if head != "" {
				title = lines[0][i]
			}
			if i == len(least) {
				least = append(least, max(8, len(title)))
			}
			text, whole := fmt.Sprint(field), title == "ID"
			switch v := field.(type) {
			case string:
				text = Short(text)
			case Whole:
				text, whole = Line(text), true
			case Cut:
				text = Line(text)
			case time.Time:
				text = Moment(v)
			}
			if line = append(line, text); whole {
				least[i] = max(least[i], cells(text))
			}
		}
		lines = append(lines, line)
	}
	width := 0
	if f, is := Raw(w).(*os.File); is {
		width, _, _ = term.GetSize(int(f.Fd())) //nolint:errcheck // then it is no terminal
	}
	_, err := io.WriteString(w, laid(lines, least, width))
	return err
}

// laid is lines of fields in columns, none of them cut to less than it says in least;
// all as they are where width is 0 or would not be met.
func laid(lines [][]string, least []int, width int) string {
	wide := make([]int, len(least))
	over := 2*(len(wide)-1) - width
	for i := range wide {
		for _, line := range lines {
			wide[i] = max(wide[i], cells(line[i]))
		}
		over += wide[i]
	}
	cut := slices.Clone(wide)
	for ; width > 0 && over > 0; over-- {
		longest := -1
		for i := range cut {
			if cut[i] > least[i] && (longest < 0 || cut[i] > cut[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			break
		}
		cut[longest]--
	}
	if over <= 0 {
		wide = cut
	}
	var b strings.Builder
	for _, line := range lines {
		gap := 0
		for i, text := range line {
			if text = cutTo(text, wide[i]); text != "" {
				b.WriteString(strings.Repeat(" ", gap) + text)
				gap = 0
			}
			gap += wide[i] - cells(text) + 2
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cells is the number of columns that text takes.
func cells(text string) (n int) {
	for c := emulator.ClustersOf(text); c.Next(); {
		n += c.Width()
	}
	return n
}

// cutTo is text of so many columns at most. Where it is too long, its end stays as well:
// a command's line ends in its exit code, a path in its name.
func cutTo(text string, width int) string {
	all, tail := cells(text), (width-1)/2
	if all <= width {
		return text
	}
	used, at, front, back := 0, 0, 0, 0
	for c := emulator.ClustersOf(text); c.Next(); {
		at += len(c.Value())
		if used += c.Width(); used < width-tail {
			front = at
		}
		if back == 0 && all-used <= tail {
			back = at
		}
	}
	return text[:front] + "…" + text[back:]
}

// PrintTable prints rows: as JSON where --json is given, else as Table does, or none on
// stderr where there are none.
func PrintTable[T any](cmd *cobra.Command, none, head string, rows []T, row func(T) []any) error {
	return Print(cmd, rows, func(w io.Writer) error {
		if len(rows) == 0 && none != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), none)
		}
		return Table(w, head, rows, row)
	})
}
