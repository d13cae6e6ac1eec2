package review

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/markup"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
	"tandemux/ui/tasks"
	"tandemux/ui/words"
)

type binding struct {
	keys string
	help string
	task bool // only for tasks
	do   func(*Review)
}

// footer is the keys for the line below, the most important first; they come before the keys that
// list all and leave.
var footer = []string{"c comment", "m merge", "s send", "u update", "] hunk", "tab file"}

// bindings is the keys of the screen in the order of the help. It is set in init because the help
// reads it.
var bindings []binding

func init() {
	bindings = []binding{
		{"j down ctrl+n", "down", false, func(v *Review) { v.view.Move(1) }},
		{"k up ctrl+p", "up", false, func(v *Review) { v.view.Move(-1) }},
		{"] J", "next hunk", false, func(v *Review) { v.view.NextHunk(1) }},
		{"[ K", "previous hunk", false, func(v *Review) { v.view.NextHunk(-1) }},
		{"tab }", "next file", false, func(v *Review) { v.view.NextFile(1) }},
		{"shift+tab {", "previous file", false, func(v *Review) { v.view.NextFile(-1) }},
		{"pgdown space ctrl+f", "a page down", false, func(v *Review) { v.view.Page(2) }},
		{"pgup ctrl+b", "a page up", false, func(v *Review) { v.view.Page(-2) }},
		{"ctrl+d", "half a page down", false, func(v *Review) { v.view.Page(1) }},
		{"ctrl+u", "half a page up", false, func(v *Review) { v.view.Page(-1) }},
		{"g home", "to the first file", false, func(v *Review) { v.view.Move(-1 << 30) }},
		{"G end", "to the end", false, func(v *Review) { v.view.Move(1 << 30) }},
		{"enter o right l", "open a file, or what is left out; edit a comment", false, (*Review).enter},
		{"left h", "close the file", false, func(v *Review) { v.view.Open(true) }},
		{"O", "close all files, or open them", false, func(v *Review) { v.view.OpenAll() }},
		{"z +", "all lines of the file, or only what changed", false, func(v *Review) { v.view.Context() }},
		{"/", "search", false, (*Review).search},
		{"n", "next match", false, func(v *Review) { v.Loop.Brief("%s", v.view.FindNext(1)) }},
		{"N", "previous match", false, func(v *Review) { v.Loop.Brief("%s", v.view.FindNext(-1)) }},
		{"v V", "select lines, or no more", false, func(v *Review) { v.view.Mark() }},
		{"c e", "comment on the line or what is selected; edit a comment", false, (*Review).comment},
		{"d x delete", "delete the comment", false, (*Review).uncomment},
		{"r", "note that the comment is done, or that it is not", false, (*Review).resolve},
		{")", "next comment", false, func(v *Review) { v.view.NextNote(1) }},
		{"(", "previous comment", false, func(v *Review) { v.view.NextNote(-1) }},
		{"s alt+s", "send the task a message, with the comments", true, (*Review).send},
		{"t", "go to the chat", false, (*Review).chat},
		{"m alt+m", "merge, after saying what that does", true, func(v *Review) { v.merge(false) }},
		{"M", "merge without the check that must pass", true, func(v *Review) { v.merge(true) }},
		{"u", "bring what is new at home into the task", true, func(v *Review) { v.update(tasks.Update{Ask: true}) }},
		{"A", "give up the update that left conflicts", true, func(v *Review) { v.update(tasks.Update{Abort: true}) }},
		{"alt+o", "copy the files into a directory", true, (*Review).pull},
		{"R ctrl+r", "look again", false, (*Review).again},
		{"?", "all keys", false, (*Review).help},
		{"q esc ctrl+c ctrl+g", "leave", false, nil},
	}
}

// offered returns the keys for the subject.
func (v *Review) offered() []binding {
	return slices.DeleteFunc(slices.Clone(bindings), func(b binding) bool { return b.task && v.Task == "" })
}

func (v *Review) Key(k tea.Key) (done bool) {
	defer func() {
		v.fetch()
		v.Loop.Dirty |= loop.Panes
	}()
	if o := v.inner; o != nil {
		if o.Key(k) && v.inner == o {
			v.inner = nil
		}
		return false
	}
	v.said = ""
	stroke := editor.Stroke(k)
	if stroke == " " {
		stroke = "space"
	}
	for _, b := range v.offered() {
		if !slices.Contains(strings.Fields(b.keys), stroke) {
			continue
		}
		if b.do != nil {
			b.do(v)
			return false
		}
		if v.view.Unmark() {
			return false
		}
		if v.before != nil {
			v.Loop.Open(v.before)
			v.Tasks.Load()
		}
		return v.before == nil
	}
	return false
}

func (v *Review) Paste(text string) {
	if o, takes := v.inner.(overlay.Pasting); takes {
		o.Paste(text)
	}
}

// Click implements overlay.Clicker: it moves the cursor, or opens what the cursor is on.
func (v *Review) Click(x, y int) bool {
	if o := v.inner; o != nil {
		if c, is := o.(overlay.Clicker); is && c.Click(x, y) && v.inner == o {
			v.inner = nil
		}
		return false
	}
	if v.view.Click(y) {
		v.view.Open(false)
		v.fetch()
	}
	return false
}

func (v *Review) Wheel(n int) {
	if c, is := v.inner.(overlay.Clicker); is {
		c.Wheel(n)
	} else {
		v.view.Move(3 * n)
	}
}

func (v *Review) enter() {
	if _, is := v.view.Note(); is {
		v.comment()
		return
	}
	v.view.Open(false)
}

func (v *Review) chat() {
	if v.URI == "" {
		v.Loop.Say(status.Info, "%s has no chat: `tandemux task watch` follows it", v.Title)
		return
	}
	v.Loop.Close()
	v.Chat()
}

func (v *Review) search() {
	from := v.view.Position()
	v.inner = overlay.NewSearch(overlay.Asking{
		Label: "search", Past: v.Loop.Searches,
		Changed: func(text string) string { return v.view.Find(text, from) },
		Step: func(reverse bool) string {
			if reverse {
				return v.view.FindNext(-1)
			}
			return v.view.FindNext(1)
		},
		Done: func(text string, ok bool) {
			switch {
			case !ok:
				v.view.Find("", from)
			case text == "":
				v.Loop.Brief("%s", v.view.Find(v.Loop.LastSearch(), from))
			default:
				v.Loop.Searched(text)
			}
		},
	})
}

// help lists the keys; Enter runs the chosen one.
func (v *Review) help() {
	all := v.offered()
	rows := make([]overlay.Row, len(all))
	for i, b := range all {
		rows[i] = overlay.Row{Key: strconv.Itoa(i), Filter: b.help + " " + b.keys, Cells: []overlay.Cell{{Text: b.keys, Style: v.Look.HintKeyOn(v.Look.Overlay)}, {Text: b.help}}}
	}
	v.inner = &overlay.List{Source: overlay.Source{
		Title: "Keys", Width: 90, Columns: []overlay.Column{{Most: 20, Least: 8}, {Fills: true, Least: 20}}, EnterKeys: "enter do",
		Rows: func() []overlay.Row { return rows },
		Enter: func(key string) bool {
			v.inner = nil
			if do := all[overlay.Index(key)].do; do != nil {
				do(v)
			}
			return false
		},
	}}
}

func (v *Review) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	if area.H > 2 {
		area.H-- // the status line
	}
	top := paint.Rect{X: area.X, Y: area.Y, W: area.W, H: 1}
	c.Fill(top, l.Horizontal, l.BorderFocused)
	room := area.W - 2
	title := paint.Cut(words.Clean(v.Title), max(room-2, 0), l.Ellipsis)
	x := 1 + c.Text(1, top.Y, room, " "+title+" ", l.TitleFocused)
	for _, f := range v.facts() {
		if w := paint.Width(f) + 2; x+w < area.W {
			x += c.Text(x, top.Y, w, " "+f+" ", l.Title)
		}
	}
	body := paint.Rect{X: area.X, Y: area.Y + 1, W: area.W, H: max(area.H-2, 0)}
	if v.view.Empty() {
		c.Fill(body, ' ', look.Style{})
		for i, row := range markup.Wrap([]markup.Run{{Text: v.none()}}, body.W-2, markup.Margin{}) {
			if i < body.H {
				c.Text(body.X+1, body.Y+i, body.W-2, row.Text(), l.Title)
			}
		}
	} else {
		v.view.Draw(c, body, v.Look)
	}
	foot := paint.Rect{X: area.X, Y: body.Y + body.H, W: area.W, H: min(area.H-1, 1)}
	c.Fill(foot, ' ', look.Style{})
	c.Text(foot.X+1, foot.Y, foot.W-2, v.footer(foot.W-2), l.Title)
	if v.said != "" {
		rows := markup.Wrap([]markup.Run{{Text: v.said}}, max(area.W-2, 1), markup.Margin{})
		rows = rows[:min(len(rows), max(area.H-1, 0))]
		for i, row := range rows {
			at := paint.Rect{X: area.X, Y: area.Y + area.H - len(rows) + i, W: area.W, H: 1}
			c.Fill(at, ' ', l.Warn)
			c.Text(at.X+1, at.Y, at.W-2, row.Text(), l.Warn)
		}
	}
	if v.inner != nil {
		return v.inner.Draw(c, area, l)
	}
	return paint.Cursor{}
}

// footer describes as many keys as fit in w cells, always with the key for all keys.
func (v *Review) footer(w int) string {
	text, rest, all := "", "? keys  q leave", v.offered()
	for _, label := range footer {
		key, _, _ := strings.Cut(label, " ")
		is := slices.ContainsFunc(all, func(b binding) bool { return slices.Contains(strings.Fields(b.keys), key) })
		if is && paint.Width(text+label+"  "+rest) <= w {
			text += label + "  "
		}
	}
	return paint.Cut(text+rest, w, "")
}
