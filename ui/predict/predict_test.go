package predict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
)

// far is a client's side of a terminal: its screen, and what is predicted on it.
type far struct {
	em    emulator.Emulator
	p     Predictor
	now   time.Time
	seq   int64
	off   int
	cells []emulator.Cell
}

func newFar() *far {
	return &far{em: native.New(emulator.Options{Cols: 20, Rows: 3}), now: time.Unix(1e9, 0)}
}

func (f *far) print(s string) {
	f.em.Write([]byte(s))
	f.off += f.em.Damage().Scrolled
}

func (f *far) allow(e ahp.Echo) { f.p.Allow(e) }

func (f *far) typed(s string) {
	f.seq++
	f.p.Type([]byte(s), f.seq, f.now, f.em, f.off)
}

// echo is what the host says of all that was typed, and then the program.
func (f *far) echo(s string) {
	f.p.Took(f.seq, false)
	f.print(s)
	f.p.Settle(f.now, f.em, f.off)
}

func (f *far) text(y int, cells []emulator.Cell) string {
	return strings.TrimRight(string(emulator.AppendText(nil, cells)), " ")
}

// shows is a line as it is drawn, with the cursor, if it is there, as a bar.
func (f *far) shows(y int) string {
	f.cells = f.p.Overlay(y+f.off, f.em.Line(y, f.cells[:0]))
	x, line := f.p.Cursor(f.em, f.off)
	text := []rune(f.text(y, f.cells))
	if line != y+f.off {
		return string(text)
	}
	var b strings.Builder
	col := 0
	for _, c := range f.cells {
		if col == x {
			b.WriteByte('|')
		}
		if c.Width > 0 {
			b.WriteRune(char(c.Rune))
		}
		col++
	}
	return strings.TrimRight(b.String(), " ")
}

func (f *far) want(t *testing.T, y int, want string) {
	t.Helper()
	if got := f.shows(y); got != want {
		t.Errorf("line %d is %q, want %q", y, got, want)
	}
}

// TestAtPrompt: the first character at a prompt waits for its echo, those behind it do not.
func TestAtPrompt(t *testing.T) {
	f := newFar()
	f.print("$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("l")
	f.want(t, 0, "$ |")
	f.typed("s")
	f.p.Took(1, false)
	f.print("l")
	f.p.Settle(f.now, f.em, f.off)
	f.want(t, 0, "$ ls|")
	f.typed(" ")
	f.typed("日")
	f.want(t, 0, "$ ls 日|")
	f.typed("\x7f")
	f.typed("\x7f")
	f.want(t, 0, "$ ls|")
	f.echo("s")
	f.echo(" \x1b[K")
	f.typed("\r")
	f.want(t, 0, "$ ls |")
	f.echo("\r\n")
	f.allow(ahp.EchoTty)
	f.print("out\r\n$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("x")
	f.want(t, 2, "$ |")
	f.echo("x")
	f.typed("y")
	f.want(t, 2, "$ xy|")
	for range 3 { // not the prompt
		f.typed("\x7f")
	}
	f.want(t, 2, "$ |")
}

// TestTakenBack: that a prompt does not echo any more takes along what was predicted.
func TestTakenBack(t *testing.T) {
	f := newFar()
	f.print("$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("a")
	f.echo("a")
	f.typed("b")
	f.want(t, 0, "$ ab|")
	f.allow(ahp.NoEcho)
	f.want(t, 0, "$ a|")
}

// TestNoCredit: what stood there before confirms nothing.
func TestNoCredit(t *testing.T) {
	f := newFar()
	f.print("$ ab\b\b")
	f.allow(ahp.EchoPrompt)
	for _, key := range []string{"a", "b", " ", "\x7f", "p", "\x7f"} {
		f.typed(key)
		f.echo("")
	}
	f.now = f.now.Add(grace)
	f.p.Settle(f.now, f.em, f.off)
	f.typed("x")
	f.want(t, 0, "$ |ab")
}

// TestScrolls: predictions stay with their line.
func TestScrolls(t *testing.T) {
	f := newFar()
	f.print("a\r\nb\r\n$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("x")
	f.echo("x")
	f.typed("y")
	f.want(t, 2, "$ xy|")
	f.print("\x1b[s\r\nnote\x1b[A\x1b[3C")
	f.want(t, 1, "$ xy|")
}

// TestInserted: what stands behind the cursor moves along; a suggestion, which is drawn in
// another way, gives way.
func TestInserted(t *testing.T) {
	f := newFar()
	f.print("$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("a")
	f.echo("acd\b\b")
	f.want(t, 0, "$ a|cd")
	f.typed("b")
	f.want(t, 0, "$ ab|cd")
	f.typed("\x7f")
	f.want(t, 0, "$ a|cd")
	f.typed("b")
	f.echo("bcd\b\b")
	f.want(t, 0, "$ ab|cd")
	if f.p.Any() {
		t.Error("something is predicted still")
	}
	f.print("\x1b[K\x1b[90msuggested\x1b[m\x1b[9D")
	f.typed("s")
	f.typed("x")
	f.want(t, 0, "$ absx|ggested")
}

// TestWrong: what does not come is gone after a while, at once, and nothing is predicted
// that shows until the screen has confirmed something.
func TestWrong(t *testing.T) {
	f := newFar()
	f.print("$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("a")
	f.echo("a")
	f.typed("b")
	f.typed("c")
	f.want(t, 0, "$ abc|")
	f.echo("\a")
	if again := f.p.Settle(f.now, f.em, f.off); again != grace {
		t.Errorf("it is looked at again after %v", again)
	}
	f.now = f.now.Add(grace)
	f.p.Settle(f.now, f.em, f.off)
	f.want(t, 0, "$ a|")
	f.typed("d")
	f.want(t, 0, "$ a|")
	f.typed("e")
	f.echo("de")
	f.want(t, 0, "$ ade|")
	f.typed("f")
	f.want(t, 0, "$ adef|")
}

// TestStands: what has stood for long is underlined.
func TestStands(t *testing.T) {
	f := newFar()
	f.print("$ ")
	f.allow(ahp.EchoPrompt)
	f.typed("a")
	f.echo("a")
	f.typed("b")
	lined := func() bool {
		f.shows(0)
		return f.cells[3].Style.Underline != 0
	}
	if again := f.p.Settle(f.now, f.em, f.off); again != unsure || lined() {
		t.Errorf("it is looked at again after %v, and underlined: %v", again, lined())
	}
	f.now = f.now.Add(unsure)
	if again := f.p.Settle(f.now, f.em, f.off); again != 0 || !lined() {
		t.Errorf("it is looked at again after %v, and underlined: %v", again, lined())
	}
}

// TestNever: nothing is predicted where the host does not say so, on the alternate screen,
// in the last column, or of what may take more than one character.
func TestNever(t *testing.T) {
	for name, f := range map[string]func(f *far){
		"no word":   func(f *far) { f.allow(ahp.NoEcho) },
		"alternate": func(f *far) { f.print("\x1b[?1049h") },
		"hidden":    func(f *far) { f.print("\x1b[?25l") },
		"last":      func(f *far) { f.print("\x1b[20G") },
	} {
		t.Run(name, func(t *testing.T) {
			far := newFar()
			far.print("$ ")
			far.allow(ahp.EchoTty)
			far.typed("a")
			far.echo("a")
			f(far)
			far.typed("b")
			if far.p.Any() {
				t.Error("it is predicted")
			}
		})
	}
	for _, key := range []string{"\t", "\x1b[A", "\x01", "👍", "\u0301", "\xff", "\x1b[200~x\x1b[201~"} {
		f := newFar()
		f.allow(ahp.EchoTty)
		f.typed("a")
		f.echo("a")
		f.typed(key)
		f.typed("b")
		if f.want(t, 0, "a|"); f.p.Any() {
			t.Errorf("something is predicted behind %q", key)
		}
	}
}

// A line is a host with a program, and a client, with a delay each way.
type line struct {
	*far
	r    *rand.Rand
	host emulator.Emulator
	to   []func() // what is on its way to the host
	from []func() // and back
	told ahp.Echo

	mode   string // of the program: shell, cat, password, raw
	edited []rune
	lines  int // that were entered and are not seen to be
}

// say is output of the program.
func (l *line) say(s string) {
	l.host.Write([]byte(s))
	l.from = append(l.from, func() { l.print(s); l.p.Settle(l.now, l.em, l.off) })
}

// tell says what the host knows of the echo, where it has changed.
func (l *line) tell() {
	e := map[string]ahp.Echo{"shell": ahp.EchoPrompt, "silent": ahp.EchoPrompt, "cat": ahp.EchoTty}[l.mode]
	if e != l.told {
		l.told = e
		l.from = append(l.from, func() { l.p.Allow(e); l.p.Settle(l.now, l.em, l.off) })
	}
}

// enter has the program go on after a line: to another one, which asks for something.
func (l *line) enter() {
	if l.host.Modes().AltScreen {
		l.say("\x1b[?1049l")
	}
	l.say("\r\n")
	l.edited = nil
	switch l.mode = []string{"shell", "shell", "cat", "password", "raw", "silent"}[l.r.IntN(6)]; l.mode {
	case "shell":
		l.say("$ ")
	case "silent": // after `stty -echo`
		l.say("password: ")
	case "password": // some ask before they turn it off, so that is told with the next key
		if l.say("password: "); l.r.IntN(2) == 0 {
			l.from = append(l.from, func() { l.lines-- })
			return
		}
	case "raw":
		if l.say("["); l.r.IntN(2) == 0 {
			l.say("\x1b[?1049h")
		}
	}
	l.tell()
	l.from = append(l.from, func() { l.lines-- })
}

// read has the program take a key.
func (l *line) read(r rune) {
	switch {
	case r == '\r':
		l.enter()
	case r == 0x7f && (l.mode == "shell" || l.mode == "cat"):
		if n := len(l.edited); n > 0 {
			l.edited = l.edited[:n-1]
			l.say("\b \b")
		}
	case r == 0x7f || r < ' ':
	case l.mode == "shell" && r == 'v': // some keys do something else
		l.say("\a")
	case l.mode == "shell" || l.mode == "cat":
		if len(l.edited) < 12 {
			l.edited = append(l.edited, r)
			l.say(string(r))
		}
	case l.mode == "raw":
		l.say("?\b")
	}
}

// key is one typed by a person.
func (l *line) key(r rune) {
	l.seq++
	seq := l.seq
	l.to = append(l.to, func() {
		l.tell()
		l.from = append(l.from, func() { l.p.Took(seq, false) })
		l.read(r)
	})
	l.p.Type([]byte(string(r)), seq, l.now, l.em, l.off)
}

// look is a frame: it must not show a predicted cell with a character of a secret.
func (l *line) look(t *testing.T) {
	for y := range 3 {
		l.cells = l.em.Line(y, l.cells[:0])
		was := slices.Clone(l.cells)
		l.cells = l.p.Overlay(y+l.off, l.cells)
		for x, c := range l.cells {
			if unicode.IsUpper(c.Rune) && c.Rune != was[x].Rune {
				t.Fatalf("%q shows, and the screen has %q", l.text(y, l.cells), l.text(y, was))
			}
		}
	}
}

// TestLine: whatever programs do, and however the line delays, a character that a person
// types at the prompt of a password never shows, not in one frame, and once all is there
// the screen is the host's.
func TestLine(t *testing.T) {
	predicted := 0
	for seed := range uint64(300) {
		l := &line{far: newFar(), r: rand.New(rand.NewPCG(seed, 1)), host: native.New(emulator.Options{Cols: 20, Rows: 3}), mode: "cat"}
		l.lines = 1
		l.enter()
		sees := func() string { // the mode of what a person sees
			cur := l.em.Cursor()
			switch text := l.text(cur.Y, l.em.Line(cur.Y, nil)); {
			case strings.HasPrefix(text, "password:"):
				return "password"
			default:
				return text
			}
		}
		for range 200 {
			l.now = l.now.Add(time.Duration(l.r.IntN(60)) * time.Millisecond)
			switch n := l.r.IntN(10); {
			case n < 4 && len(l.to) > 0:
				l.to[0]()
				l.to = l.to[1:]
			case n < 7 && len(l.from) > 0:
				l.from[0]()
				l.from = l.from[1:]
			case n < 8:
				l.p.Settle(l.now, l.em, l.off)
			default:
				r := []rune("abcv \x7f\r\x01")[l.r.IntN(8)]
				if r == '\r' {
					l.lines++
				}
				if sees() == "password" && l.lines == 0 && r >= ' ' && r != 0x7f {
					r = 'A' + rune(l.r.IntN(26)) // a secret's
				}
				l.key(r)
			}
			if l.p.Any() && l.shows(l.em.Cursor().Y) != "" {
				predicted++
			}
			l.look(t)
		}
		for len(l.to)+len(l.from) > 0 {
			for _, way := range []*[]func(){&l.to, &l.from} {
				if len(*way) > 0 {
					f := (*way)[0]
					*way = (*way)[1:]
					f()
				}
			}
			l.look(t)
		}
		for range 2 {
			l.now = l.now.Add(time.Second)
			l.p.Settle(l.now, l.em, l.off)
		}
		if got, want := fmt.Sprint(l.shows(0), l.shows(1), l.shows(2), l.p.Any()), screen(l.host); got != want {
			t.Fatalf("seed %d: in the end %q, want %q", seed, got, want)
		}
	}
	if predicted < 300 {
		t.Errorf("only %d frames had a prediction: the test tests little", predicted)
	}
}

// screen is a host's, as shows gives it.
func screen(em emulator.Emulator) string {
	f := &far{em: em}
	return fmt.Sprint(f.shows(0), f.shows(1), f.shows(2), false)
}
