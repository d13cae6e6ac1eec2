package pane

import (
	"strconv"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/ui/paint"
)

// outputs is what the program prints between the reader's actions.
var outputs = []string{
	"word (x[1]) https://a.example/\r\n", "\x1b[2J\x1b[H", "\x1b[3J", "世界 wide\r\n", strings.Repeat("wrap ", 30),
	"\x1b[?1049h", "\x1b[?1049l", "\x1b]8;;https://b.example/\x1b\\link\x1b]8;;\x1b\\", "\r\n\r\n\r\n\r\n", "\x1bc",
}

var patterns = []string{"", "w", "word", "(", `\w+`, "x*", "世", "[a-", "Word", "^$", " "}

// texts is the command lines.
var texts = []string{"", "cmd", "for x\ndo y\ndone", strings.Repeat("long ", 20), "世界\x1b\x07"}

var signLook = &SignLook{
	Glyphs: [states]rune{' ', 'r', 'p', 'f', 'e'}, Fold: '>',
	Cell: [states]emulator.Style{Failed: {BG: emulator.Indexed(1)}, Running: {Attrs: emulator.Reverse}},
}

// checkFolds fails unless the rows of a view and the lines that aren't folded agree.
func checkFolds(t *testing.T, v *View) {
	t.Helper()
	for i := 1; i < len(v.folds.out); i++ {
		if v.folds.out[i].from < v.folds.out[i-1].to {
			t.Fatalf("folds overlap: %v", v.folds.out)
		}
	}
	last := v.top - 1
	for row := range v.rect.H {
		line := v.lineAt(row)
		if line <= last || v.row(line) != row || v.step(line, -row) != v.top || v.between(v.top, line) != row {
			t.Fatalf("row %d shows line %d, behind %d; that is row %d; the top is %d of %d, folds %v",
				row, line, last, v.row(line), v.step(line, -row), v.top, v.folds.out)
		}
		if _, hidden := v.folded(line); hidden {
			t.Fatalf("row %d shows line %d, which is folded: %v", row, line, v.folds.out)
		}
		last = line
	}
	if c := v.copy; c != nil {
		if _, hidden := v.folded(c.Line); hidden {
			t.Fatalf("the cursor is on line %d, which is folded: %v", c.Line, v.folds.out)
		}
	}
}

// FuzzView mixes actions of a reader, the mouse and the program: nothing may panic, and the
// cursor stays in the text.
func FuzzView(f *testing.F) {
	f.Add([]byte("\x00\x00\x10\x01\x20\x02\x30\x03"))
	f.Add([]byte{19, 1, 0, 0, 0, 3, 20, 1, 19, 2, 0, 8, 0, 8, 20, 0, 21, 0, 2, 0, 3, 2, 22, 0, 1, 90, 15, 100, 22, 1, 23, 0, 26, 20, 25, 0})
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	f.Add([]byte{0, 0, 0, 4, 3, 0, 4, 0, 8, 2, 9, 200, 2, 20, 0, 2, 1, 4, 8, 3, 6, 40, 7, 3, 5, 1, 10, 9, 11, 7, 12, 1})
	f.Fuzz(fuzzView)
}

func fuzzView(t *testing.T, ops []byte) {
	{
		w, h := 20, 6
		v := view(t, w, h, "")
		v.Feed.LimitHistory(20 * (len(ops) % 5)) // 0 is the default
		c := &paint.Canvas{}
		c.Resize(w, h)
		v.Framed = len(ops)%4 == 0
		painter := paint.NewPainter(paint.Options{})
		ran := 0
		id := func(n int) string { return strconv.Itoa(n % (ran + 1)) }
		var saved Position
		for i := 0; i+1 < len(ops) && i < 400; i += 2 {
			n := int(ops[i+1])
			x, y := n%(w+4)-2, n/8%(h+4)-2
			switch ops[i] % 27 {
			case 0:
				v.Feed.Write(outputs[n%len(outputs)])
			case 1:
				w, h = 1+n%40, 1+n/40
				v.Feed.Resize(w, h)
				c.Resize(w, h)
			case 2:
				v.EnterCopy()
			case 3:
				v.Move(Motion(n%int(ScrollDown+1)), 1+n%7)
			case 4:
				v.Mark(Shape(n % 3))
			case 5:
				v.OtherEnd()
			case 6:
				v.StartDrag(x, y, Unit(n%3), n%2 == 0)
			case 7:
				v.Drag(x, y)
			case 8:
				v.Search(patterns[n%len(patterns)], n%2 == 0)
			case 9:
				v.SearchNext(n%2 == 0, n)
			case 10:
				v.FindChar(Find{Char: rune('a' + n%26), Back: n%2 == 0, Till: n%3 == 0}, 1+n%3)
			case 11:
				v.SetMark(rune(n))
				v.GoMark(rune(n / 2))
			case 12:
				v.Hover(x, y, n%2 == 0)
			case 13:
				v.DragBar(y)
			case 14:
				v.GoLine(n)
				v.Recentre(n % 3)
			case 15:
				v.Scroll(n - 128)
			case 16:
				v.SelectedText()
				v.Text(n * 10)
				v.WordHere()
				v.LinkHere()
			case 17:
				saved = v.Position()
			case 18:
				if n%2 == 0 {
					v.Restore(saved)
				} else {
					v.Follow()
				}
			case 19:
				ran++
				v.Feed.Write("$ cmd\r\n")
				v.Feed.Executed(ahp.TerminalCommandExecuted{CommandID: strconv.Itoa(ran), CommandLine: texts[n%len(texts)]})
			case 20:
				code, ms := n%3, int64(n*50)
				v.Feed.Finished(ahp.TerminalCommandFinished{CommandID: id(n), ExitCode: &code, DurationMs: &ms})
				v.Feed.Finished(ahp.TerminalCommandFinished{CommandID: strconv.Itoa(ran), ExitCode: &code, DurationMs: &ms})
			case 21:
				v.Fold() //nolint:errcheck // there may be nothing to fold
			case 22:
				v.FoldAll(n%2 == 0)
			case 23:
				v.SelectOutput() //nolint:errcheck // there may be none
			case 24:
				v.GoTo(id(n)) //nolint:errcheck // it may be gone
			case 25:
				v.GoCommand(n%2 == 0)
				v.CommandOutput("") //nolint:errcheck // there may be none
				v.Feed.Commands()
			case 26:
				v.FoldRow(y)
				v.Stuck(x, y)
			}
			look := Look{Signs: signLook, Sticky: Sticky(len(ops) % 3)}
			cur := v.Draw(c, paint.Rect{W: w, H: h}, look)
			painter.Frame(nil, c, cur)
			v.key = signKey{} // recompute the signs
			v.Redraw()
			cur = v.Draw(c, paint.Rect{W: w, H: h}, look)
			if more := painter.Frame(nil, c, cur); len(more) > 0 && v.search.re == nil {
				t.Fatalf("step %d (%d %d): drawing everything draws more than what changed: %q", i, ops[i]%27, n, more)
			}
			checkFolds(t, v)
			if v.copy == nil {
				continue
			}
			cols, _ := v.seen.em.Size()
			if oldest, newest := v.bounds(); v.copy.X < 0 || v.copy.X >= cols || v.copy.Line < oldest || v.copy.Line > newest {
				t.Fatalf("step %d (%d %d): the cursor is at %d,%d; lines are %d to %d, columns %d",
					i, ops[i]%27, n, v.copy.X, v.copy.Line, oldest, newest, cols)
			}
		}
	}
}
