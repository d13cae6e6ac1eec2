package clipboard

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Desk is what a Clipboard has the machine that it runs on do.
type Desk interface {
	// Save writes text to a new file; ~ is the home directory. It returns the file's full name.
	Save(path, text string) (full string, err error)
}

// Clipboard is this client's paste buffers, which are kept only in memory, and the ways to the
// clipboard.
type Clipboard struct {
	loop    *loop.Loop
	desk    Desk    // may be nil
	clipper Clipper // may be nil
	outer   func(text string, selected bool) (why string)
	paste   func(text string)
	buffers buffers

	clipping bool    // a Clipper's program runs
	next     *Copied // the text to copy when it has ended; nil for none

	spent spent // limits programs
}

// New makes a Clipboard. desk and clipper may be nil. outer sets the outer terminal's clipboard
// and returns why it can't, "" if it could. paste types a text.
func New(l *loop.Loop, desk Desk, clipper Clipper, outer func(text string, selected bool) (why string), paste func(text string)) *Clipboard {
	return &Clipboard{loop: l, desk: desk, clipper: clipper, outer: outer, paste: paste}
}

// Len is the number of paste buffers.
func (c *Clipboard) Len() int { return len(c.buffers.list) }

func (c *Clipboard) Forget() {
	if b, ok := c.buffers.find(0); ok {
		c.buffers.remove(b.id)
		c.loop.Say(status.Info, "forgot %s", words.Counted(b.text))
	}
}

// Clipper sets the clipboard by a program of the machine.
type Clipper interface {
	// Clip passes text to the program and returns the program's name, "" if there is none, so
	// that the outer terminal must set the clipboard. It returns when the program has ended, or
	// after some seconds with running true. It is an error if the program fails. selected says
	// that the mouse selected the text; then Clip also sets the primary selection, where there is
	// one.
	Clip(text string, selected bool) (program string, running bool, err error)
}

// Copied is a text to copy.
type Copied struct {
	Text string
	What string // describes the text, such as "4 lines"
	But  string // a restriction for the message, "" for none
	// Selected says that the mouse selected the text.
	Selected bool
}

// CopyText copies text to a paste buffer and the clipboard, and says so.
func (c *Clipboard) CopyText(text string) { c.copyText(text, false) }

// CopySelected copies text that the mouse selected.
func (c *Clipboard) CopySelected(text string) { c.copyText(text, true) }

func (c *Clipboard) copyText(text string, selected bool) {
	if text == "" {
		c.loop.Say(status.Info, "there is nothing to copy")
		return
	}
	c.Copy(Copied{Text: text, What: words.Counted(text), Selected: selected})
}

// Copy copies text to a paste buffer and the clipboard. Its message claims only what is known: a
// program that succeeded has set the clipboard, the outer terminal doesn't report whether it did.
func (c *Clipboard) Copy(t Copied) {
	c.buffers.add(t.Text, c.loop.Now())
	if c.clipper == nil {
		c.clipOuter(t, nil)
		return
	}
	if c.clipping {
		c.next = &t // the clipboard gets the newest text
		return
	}
	c.clipping = true
	c.loop.Async("copy", func(context.Context) (func(), error) {
		program, running, err := c.clipper.Clip(t.Text, t.Selected)
		return func() {
			switch {
			case err != nil || program == "":
				c.clipOuter(t, err)
			case running:
				c.loop.Say(status.Info, "gave %s to %s, which still runs%s", t.What, words.Clean(program), t.But)
			case t.But != "":
				c.loop.Say(status.Info, "copied %s%s", t.What, t.But)
			default:
				c.loop.Brief("copied %s", t.What)
			}
			c.clipping = false
			if next := c.next; next != nil {
				c.next = nil
				c.Copy(*next)
			}
		}, nil
	})
}

// clipOuter has the outer terminal set its clipboard. The message says so, and why no program
// did.
func (c *Clipboard) clipOuter(t Copied, failed error) {
	why := ""
	if failed != nil {
		why = "; " + words.Clean(failed.Error())
	}
	switch not := c.outer(t.Text, t.Selected); {
	case not != "":
		c.loop.Say(status.Warning, "copied %s to a paste buffer only: %s%s", t.What, not, why)
	case failed != nil:
		c.loop.Say(status.Warning, "sent %s to the terminal's clipboard%s%s", t.What, t.But, why)
	case t.But != "":
		c.loop.Say(status.Info, "sent %s to the terminal's clipboard%s", t.What, t.But)
	default:
		c.loop.Brief("sent %s to the terminal's clipboard", t.What)
	}
}

// Type types a text.
func (c *Clipboard) Type(text string) { c.paste(text) }

// Paste types the buffer of an id, the newest for 0.
func (c *Clipboard) Paste(id int) {
	b, ok := c.buffers.find(id)
	if !ok {
		c.loop.Say(status.Info, "nothing was copied yet")
		return
	}
	c.paste(b.text)
}

// maxFiltered is how much of a buffer a list's filter reads, in bytes.
const maxFiltered = 4 << 10

// Choose lists the buffers and shows the chosen one's text.
func (c *Clipboard) Choose() {
	with := func(do func(buffer)) func(string) {
		return func(key string) {
			if b, ok := c.buffers.find(overlay.Index(key)); ok {
				do(b)
			}
		}
	}
	c.loop.Open(&overlay.List{Source: overlay.Source{
		Title: "Paste buffers", Width: 110,
		Columns: []overlay.Column{{Fills: true, Least: 20}, {Right: true, Muted: true}, {Right: true, Muted: true}},
		Rows: func() []overlay.Row {
			rows := make([]overlay.Row, len(c.buffers.list))
			for i, b := range c.buffers.list {
				start := b.text[:min(len(b.text), maxFiltered)]
				rows[i] = overlay.Row{Key: strconv.Itoa(b.id), Filter: start, Cells: []overlay.Cell{
					{Text: words.Line(start)}, {Text: words.Counted(b.text)}, {Text: words.Ago(c.loop.Now().Sub(b.at))},
				}}
			}
			return rows
		},
		Enter: func(key string) bool { c.loop.Close(); c.Paste(overlay.Index(key)); return true }, EnterKeys: "enter paste",
		Actions: []overlay.Action{
			{Letter: "y", Label: "copy", Close: true, Do: with(func(b buffer) { c.CopyText(b.text) })},
			{Letter: "s", Label: "save", Do: func(key string) { c.SaveBuffer(overlay.Index(key), nil) }},
			{Letter: "x", Label: "delete", Do: with(func(b buffer) {
				if c.buffers.remove(b.id); len(c.buffers.list) == 0 {
					c.loop.Close()
				}
			})},
		},
		Preview: func(cv *paint.Canvas, r paint.Rect, key string, l look.Look) {
			b, _ := c.buffers.find(overlay.Index(key))
			overlay.DrawText(cv, r, b.text, l)
		},
	}})
}

// SaveBuffer writes the buffer of an id, the newest for 0, to a file. It asks for the file's name
// if args has none.
func (c *Clipboard) SaveBuffer(id int, args []string) {
	b, ok := c.buffers.find(id)
	if !ok {
		c.loop.Say(status.Info, "nothing was copied yet")
		return
	}
	c.Save(args, "save buffer to", b.text, false)
}

// Save writes text to a new file of this machine. It asks for the file's name if args has none.
func (c *Clipboard) Save(args []string, label, text string, cut bool) {
	if c.desk == nil {
		c.loop.Say(status.Info, "there is nowhere to save to")
		return
	}
	write := func(path string) {
		if path == "" {
			return
		}
		loop.Get(c.loop, "save "+path, func(context.Context) (string, error) { return c.desk.Save(path, text) }, func(full string) {
			if cut {
				c.loop.Say(status.Warning, "saved the newest %s to %s; what came before is too much", words.Counted(text), full)
				return
			}
			c.loop.Say(status.Info, "saved %s to %s", words.Counted(text), full)
		})
	}
	c.loop.Ask(args, label, fmt.Sprintf("~/tandemux-%s.txt", c.loop.Now().Format("20060102-150405")), write)
}

const (
	// maxBuffers is the largest number of paste buffers; the oldest are dropped.
	maxBuffers = 50
	// maxBuffered is the largest size of all buffers, in bytes; the oldest are dropped.
	maxBuffered = 16 << 20
)

// buffer is a paste buffer.
type buffer struct {
	id   int
	text string
	at   time.Time
}

// buffers is the paste buffers, the newest first.
type buffers struct {
	list  []buffer
	bytes int
	last  int // id
}

// add adds a buffer, unless the newest has the same text.
func (b *buffers) add(text string, now time.Time) {
	if text == "" || len(text) > maxBuffered {
		return
	}
	if len(b.list) > 0 && b.list[0].text == text {
		b.list[0].at = now
		return
	}
	b.last++
	b.list = append([]buffer{{id: b.last, text: text, at: now}}, b.list...)
	b.bytes += len(text)
	for len(b.list) > maxBuffers || b.bytes > maxBuffered {
		n := len(b.list) - 1
		b.bytes -= len(b.list[n].text)
		b.list[n] = buffer{}
		b.list = b.list[:n]
	}
}

// find returns the buffer of an id, the newest for 0.
func (b *buffers) find(id int) (buffer, bool) {
	for _, x := range b.list {
		if id == 0 || x.id == id {
			return x, true
		}
	}
	return buffer{}, false
}

func (b *buffers) remove(id int) {
	for i, x := range b.list {
		if x.id == id {
			b.bytes -= len(x.text)
			b.list = append(b.list[:i:i], b.list[i+1:]...)
			return
		}
	}
}

const (
	// In each period, programs may set the clipboard most times, to mostOut bytes in all.
	period  = 10 * time.Second
	most    = 20
	mostOut = 1 << 20
)

// spent is what programs have used in the present period.
type spent struct {
	since time.Time
	times int
	bytes int
}

// Program sets the clipboard for a program (OSC 52). name describes the program's terminal.
func (c *Clipboard) Program(name, text string) {
	now := c.loop.Now()
	if s := &c.spent; now.Sub(s.since) > period {
		*s = spent{since: now}
	}
	c.spent.times++
	c.spent.bytes += len(text)
	if c.spent.times > most || c.spent.bytes > mostOut {
		c.loop.Say(status.Warning, "%s sets the clipboard too often, or to too much: it was not set", name)
		return
	}
	c.outer(text, false)
}
