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

// maxInput is the largest terminal/input, in bytes; longer pastes are sent in pieces.
const maxInput = 32 << 10

// outgoing is input for a terminal that was gathered during an update.
type outgoing struct {
	uri  ahp.URI
	data []byte
	keys int  // number of key presses, for messages
	part bool // it is part of a paste in several parts, for which the host may have no room
}

// Typing sends the person's input to terminals.
type Typing struct {
	// Escaped says that the last input of a program was a single ESC.
	Escaped bool
	// Predicting says when typed text shows before its echo.
	Predicting Predict

	loop  *loop.Loop
	link  *link.Link
	panes *panes.Panes
	outer *outer.Terminal
	sent  func(uri ahp.URI, data []byte)

	last  time.Time     // when the last input was sent, until a frame shows its echo; zero after that
	down  map[rune]bool // keys whose press was sent to a program that may want their release
	out   []outgoing
	flows map[ahp.URI]*flow // input that takes more than one message

	away    map[string]*outage // by host name
	report  string             // the text about keys that an outage lost
	skip    bool               // refuse the rest of a paste
	pasting bool               // accept the rest of a paste
}

// New makes an empty Typing. sent is called with all input for terminals.
func New(l *loop.Loop, lk *link.Link, ps *panes.Panes, o *outer.Terminal, sent func(uri ahp.URI, data []byte)) *Typing {
	return &Typing{loop: l, link: lk, panes: ps, outer: o, sent: sent, down: map[rune]bool{}, flows: map[ahp.URI]*flow{}, away: map[string]*outage{}}
}

// Idle reports whether the host has taken all pieces.
func (ty *Typing) Idle() bool { return len(ty.flows) == 0 }

// Key sends a key to the focused program. rest says that its ESC was already sent.
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

// early keeps a key for a terminal of another host that has not sent its state yet. The key is
// encoded for the modes of a new terminal.
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

// Release sends a key's release to a program that asked for releases and got the press.
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

// into sends what the person typed to a terminal if they may type there; else it says what to do.
// The view follows the output again, out of copy mode, and the terminal gets this client's size.
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

// MayType reports whether the person may type into a terminal. If not it says why.
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

// Send gathers input for a terminal. It is sent at the end of the update.
func (ty *Typing) Send(uri ahp.URI, data []byte) {
	ty.Escaped = false
	ty.sent(uri, data)
	if n := len(ty.out); n > 0 && ty.out[n-1].uri == uri {
		ty.out[n-1].data = append(ty.out[n-1].data, data...)
		return
	}
	ty.out = append(ty.out, outgoing{uri: uri, data: data})
}

// cutRune returns the length of b without an incomplete character at its end.
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

// Moved tells the programs of two terminals that the focus moved between them.
func (ty *Typing) Moved(from, to ahp.URI) {
	ty.loop.Dirty |= loop.Chrome
	if ty.outer.Blurred || from == to {
		return
	}
	ty.Focus(from, false)
	ty.Focus(to, true)
}

// Focus reports the focus to a program that asked for it, if this client holds the terminal:
// moving the focus is no reason to take it from another client.
func (ty *Typing) Focus(uri ahp.URI, gained bool) {
	t := ty.panes.Terms.Get(uri)
	if t == nil || t.Feed == nil || t.Exited() || !ty.link.UpAt(uri) || ty.panes.Terms.Holder(t) != command.Me {
		return
	}
	if s := input.Focus(gained, t.Feed.Modes()); s != "" {
		ty.Send(uri, []byte(s))
	}
}

// encode returns the bytes of a key for a program's modes. rest says that its ESC was already
// sent.
func encode(k tea.Key, ev input.Event, rest bool, modes emulator.Modes) []byte {
	data := input.AppendKey(nil, k, ev, modes)
	if rest && len(data) > 1 && data[0] == 0x1b {
		data = data[1:]
	}
	return data
}

// echoTime is how long after a key output counts as its echo.
const echoTime = 100 * time.Millisecond

// Echoes reports whether the program that was typed into has printed since the last frame. That
// must be drawn at once, but once for each key, even if other panes are flooded and frames are
// paced.
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
	// nearTime is the shortest round trip to a host for which echoes are predicted.
	nearTime = 20 * time.Millisecond
	// farTime is the round trip above which predictions are underlined.
	farTime = 80 * time.Millisecond
)

// Predict says when typed text shows before its echo.
type Predict uint8

// The values of Predict.
const (
	PredictFar Predict = iota // if the round trip takes nearTime or more
	PredictAlways
	PredictNever
)

// Predicts is the values by their names in the configuration.
var Predicts = map[string]Predict{"": PredictFar, "auto": PredictFar, "always": PredictAlways, "never": PredictNever}

// predict predicts the echo of input, if it was sent and predicting is on.
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
