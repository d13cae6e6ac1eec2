package typing

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/ui/command"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/predict"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/tty"
)

// maxInput bounds one terminal/input, in bytes; longer pastes go in pieces.
const maxInput = 32 << 10

// outgoing is input for a terminal, gathered during an update.
type outgoing struct {
	uri  ahp.URI
	data []byte
	keys int  // how many it is, for people
	part bool // of a paste that comes in several reads: the host may not have room for all
}

// Typing is what goes from the person to terminals.
type Typing struct {
	// Escaped says that the last thing a program got was ESC alone.
	Escaped bool
	// Predicting is when what is typed shows before its echo has come.
	Predicting Predict

	loop  *loop.Loop
	link  *link.Link
	panes *panes.Panes
	outer *outer.Terminal
	sent  func(uri ahp.URI, data []byte)

	last  time.Time     // when something was typed that no frame has answered yet; else zero
	down  map[rune]bool // keys whose press went to a program
	out   []outgoing
	flows map[ahp.URI]*flow // input that takes more than one message

	away    map[string]*outage // of each host
	report  string             // what became of the keys of one that is over
	skip    bool               // the rest of a paste whose beginning was not taken
	pasting bool               // the rest of a paste whose beginning was taken
}

// New makes typing that nothing waits in. sent is told what goes to a terminal.
func New(l *loop.Loop, lk *link.Link, ps *panes.Panes, o *outer.Terminal, sent func(uri ahp.URI, data []byte)) *Typing {
	return &Typing{loop: l, link: lk, panes: ps, outer: o, sent: sent, down: map[rune]bool{}, flows: map[ahp.URI]*flow{}, away: map[string]*outage{}}
}

// Idle reports whether the host has taken everything.
func (ty *Typing) Idle() bool { return len(ty.flows) == 0 }

// Key sends a key to the focused program. With rest set its ESC went there already.
func (ty *Typing) Key(k tea.Key, rest bool) {
	p, t, v := ty.panes.Focused()
	if v == nil {
		ty.early(p.Terminal, k)
		return
	}
	modes := v.Feed.Modes()
	data := encode(k, input.Press, rest, modes)
	if len(data) == 0 {
		return
	}
	if ty.into(t, v, data) {
		ty.panes.Repeat(func(t *terminals.Terminal, v *pane.View) {
			modes.Kitty |= v.Feed.Modes().Kitty
			ty.into(t, v, encode(k, input.Press, rest, v.Feed.Modes()))
		})
		ty.Escaped = k.Code == tea.KeyEscape && k.Mod == 0
		if modes.Kitty != 0 {
			ty.pressed(k.Code, true)
		}
	}
}

// early keeps a key for a terminal of another host that has told nothing of it yet. Its modes
// are not known: it gets what a terminal sends that has just begun.
func (ty *Typing) early(uri ahp.URI, k tea.Key) {
	data := encode(k, input.Press, false, emulator.Modes{})
	host := hosted.Host(uri)
	if host == "" || ty.up(ty.outage(uri)) && ty.panes.Terms.LoadedOf(host) || len(data) == 0 || !ty.mayKeep(uri, len(data)) {
		return
	}
	ty.loop.Unsay()
	ty.Send(uri, data)
	ty.out[len(ty.out)-1].keys++
}

func (ty *Typing) pressed(code rune, down bool) {
	if down && len(ty.down) < 64 {
		ty.down[code] = true
	} else if !down {
		delete(ty.down, code)
	}
}

// Release tells a program that wants to know; it gets the releases of keys
// whose press it got.
func (ty *Typing) Release(k tea.Key) {
	if !ty.down[k.Code] {
		return
	}
	ty.pressed(k.Code, false)
	_, t, v := ty.panes.Focused()
	if v == nil || !ty.panes.Terms.Typable(t) {
		return
	}
	release := func(t *terminals.Terminal, v *pane.View) {
		if data := input.AppendKey(nil, k, input.Release, v.Feed.Modes()); len(data) > 0 {
			ty.Send(t.URI, data)
		}
	}
	release(t, v)
	ty.panes.Repeat(release)
}

// into sends what the person typed to a terminal, if it is theirs to type
// into; else it says what to do. The view goes back to the newest output, out of
// copy mode, and the terminal gets this client's size.
func (ty *Typing) into(t *terminals.Terminal, v *pane.View, data []byte) bool {
	if !ty.MayType(t) || !ty.mayKeep(t.URI, len(data)) {
		return false
	}
	if v.Back() > 0 || v.Copying() {
		v.Follow()
		ty.loop.Dirty |= loop.Panes | loop.Chrome
	}
	if v.Unselect() {
		ty.loop.Dirty |= loop.Panes
	}
	if p, ok := ty.panes.Showing(t.URI); ok {
		ty.panes.Fit(p, true)
	}
	ty.loop.Unsay()
	t.Typed = true
	ty.Send(t.URI, data)
	ty.out[len(ty.out)-1].keys++
	return true
}

// MayType reports whether the person may type into a terminal; if not it says
// why.
func (ty *Typing) MayType(t *terminals.Terminal) bool {
	if ty.panes.Terms.Typable(t) {
		return true
	}
	keys := ty.loop.Keys("reclaim")
	switch ty.panes.Terms.Holder(t) {
	case command.Agent:
		ty.loop.Say(status.Warning, "%s runs %s here: %s takes it", t.AgentName(), t.Doing(), keys)
	case command.Background:
		ty.loop.Say(status.Warning, "%s holds this terminal: %s takes it", t.AgentName(), keys)
	case command.Other:
		ty.loop.Say(status.Warning, "%s holds this terminal: %s takes it", t.PersonName(), keys)
	}
	return false
}

// Send gathers input for a terminal; it leaves at the end of the update.
func (ty *Typing) Send(uri ahp.URI, data []byte) {
	ty.Escaped = false
	ty.sent(uri, data)
	if n := len(ty.out); n > 0 && ty.out[n-1].uri == uri {
		ty.out[n-1].data = append(ty.out[n-1].data, data...)
		return
	}
	ty.out = append(ty.out, outgoing{uri: uri, data: data})
}

// cutRune is the length of b without a character cut at its end.
func cutRune(b []byte) int {
	for n := len(b); n > len(b)-4; n-- {
		if b[n-1] < 0x80 {
			return n
		}
		if b[n-1] >= 0xc0 {
			return n - 1
		}
	}
	return len(b)
}

// Paste hands pasted text to the focused program.
func (ty *Typing) Paste(p tty.Paste) {
	place, t, v := ty.panes.Focused()
	if away := ty.panes.Absent(place.Terminal); v == nil && away != "" {
		ty.loop.Say(status.Warning, "not pasted: %s", away)
	}
	if t == nil || v == nil || t.Exited() || !ty.mayPaste(t.URI, p) {
		return
	}
	defer func() { ty.pasting = ty.pasting && !p.Last }()
	typed := false
	into := func(t *terminals.Terminal, v *pane.View) {
		text := input.Paste(p.Text, p.First, p.Last, v.Feed.Modes())
		if text == "" || !ty.into(t, v, []byte(text)) {
			return
		}
		typed = true
		if !(p.First && p.Last) {
			ty.out[len(ty.out)-1].part = true
		}
	}
	if into(t, v); typed {
		ty.panes.Repeat(into)
	}
}

// Moved tells the programs that the focus went from one pane to another.
func (ty *Typing) Moved(from, to ahp.URI) {
	ty.loop.Dirty |= loop.Chrome
	if ty.outer.Blurred || from == to {
		return
	}
	ty.Focus(from, false)
	ty.Focus(to, true)
}

// Focus reports the focus to a program that asked for it, in a terminal of
// this client: moving the focus is no reason to take one from another client.
func (ty *Typing) Focus(uri ahp.URI, gained bool) {
	t := ty.panes.Terms.Get(uri)
	if t == nil || t.Feed == nil || t.Exited() || !ty.link.UpAt(uri) || ty.panes.Terms.Holder(t) != command.Me {
		return
	}
	if s := input.Focus(gained, t.Feed.Modes()); s != "" {
		ty.Send(uri, []byte(s))
	}
}

// encode gives the bytes of a key as a program in those modes expects it. With
// rest set its ESC went to the program already.
func encode(k tea.Key, ev input.Event, rest bool, modes emulator.Modes) []byte {
	data := input.AppendKey(nil, k, ev, modes)
	if rest && len(data) > 1 && data[0] == 0x1b {
		data = data[1:]
	}
	return data
}

// echoTime is how long after a key what its program prints counts as the answer.
const echoTime = 100 * time.Millisecond

// Echoes reports whether the program that was typed into has printed since the
// last frame: that is drawn at once, once for each key, though other panes are
// flooded and frames are paced.
func (ty *Typing) Echoes(now time.Time) bool {
	if ty.last.IsZero() {
		return false
	}
	if since := now.Sub(ty.last); since < 0 || since > echoTime {
		ty.last = time.Time{}
		return false
	}
	if _, _, v := ty.panes.Focused(); v == nil || !v.Feed.Fresh() {
		return false
	}
	ty.last = time.Time{}
	return true
}

const (
	// nearTime is a round trip to the host over which nobody waits for an echo.
	nearTime = 20 * time.Millisecond
	// farTime is one after which what is predicted is underlined.
	farTime = 80 * time.Millisecond
)

// Predict says when typing shows before its echo has come.
type Predict uint8

// The values of Predict.
const (
	PredictFar Predict = iota // over lines where that takes a while
	PredictAlways
	PredictNever
)

// Predicts are the values by their names in the configuration.
var Predicts = map[string]Predict{"": PredictFar, "auto": PredictFar, "always": PredictAlways, "never": PredictNever}

// predict shows what was sent, if it was, where the host says that it will show.
func (ty *Typing) predict(o outgoing, seq int64, sent bool) {
	t := ty.panes.Terms.Get(o.uri)
	if t == nil || t.Feed == nil {
		return
	}
	trip := ty.link.At(o.uri).RoundTrip()
	far := trip >= nearTime || ty.Predicting == PredictAlways
	if !sent || o.part || !far || ty.Predicting == PredictNever {
		o.data = nil
	}
	if t.Feed.Predict(o.data != nil, func(p *predict.Predictor, s predict.Screen, off int) {
		p.Mark = trip > farTime
		p.Type(o.data, seq, ty.loop.Now(), s, off)
	}) {
		ty.loop.Dirty |= loop.Panes
	}
}
