package terminals

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/guest"
	"tandemux/ahp/hosted"
	"tandemux/internal/fileuri"
	"tandemux/ui/command"
	"tandemux/ui/look"
	"tandemux/ui/pane"
	"tandemux/ui/words"
)

// youth is how long a shell has to have lived for its pane to close by itself
// when it exits: one that dies at once has something to say.
const youth = 2 * time.Second

// Terminal is what this client knows of a terminal of the host.
type Terminal struct {
	URI  ahp.URI
	Info ahp.TerminalInfo // as in the root channel, kept fresher by the terminal's own
	Cwd  ahp.URI

	// Following it.
	Feed       *pane.Feed // nil when not subscribed
	Ready      bool       // its snapshot has come
	Cols, Rows int        // the host's size
	Want       Size       // what this client asked for last; zero asks anew
	Asked      int64      // dispatch of a claim that the host has not answered; 0 for none
	Shown      int        // when it was last on the screen, in rising order

	Born  time.Time // when it was first seen; zero if it was there before
	Typed bool      // a person has typed into it here
	// Passing says that its pane closes when the program has ended well.
	Passing bool
	// Popup says that its pane closes with the program, however that ended, if it
	// was there to be started.
	Popup bool
	// Theirs says that another client took it or gave it a size while this one was
	// there: that one decides until somebody types here.
	Theirs bool
	// Sized says that the program gave itself its size: it is kept until the pane gets
	// another one.
	Sized bool
	// Done says that it has been closed here; what still comes is ignored.
	Done bool
}

// Size is one in cells.
type Size struct{ Cols, Rows int }

// List has all terminals of this user's host, in that one's order, then those of others.
type List struct {
	ByURI  map[ahp.URI]*Terminal
	Order  []ahp.URI
	Loaded bool   // the root snapshot has come
	Me     string // this client's id
	// orders are those of each host, by its name, "" for this user's own; persons this
	// client's principals there, once known.
	orders  map[string][]ahp.URI
	persons map[string]string
}

// New makes an empty list for a client and the person behind it, as far as known.
func New(me, person string) *List {
	return &List{ByURI: map[ahp.URI]*Terminal{}, Me: me, orders: map[string][]ahp.URI{}, persons: map[string]string{"": person}}
}

// Known takes the principal that a host knows this person as.
func (ts *List) Known(host, person string) { ts.persons[host] = person }

// LoadedOf reports whether a host has said what it has.
func (ts *List) LoadedOf(host string) bool {
	_, is := ts.orders[host]
	return is
}

// person is this person's principal at the host of a terminal, "" while that is not known.
func (ts *List) person(t *Terminal) string { return ts.persons[hosted.Host(t.URI)] }

// Get finds a terminal, nil for none.
func (ts *List) Get(uri ahp.URI) *Terminal { return ts.ByURI[uri] }

// Ensure gives the terminal's entry, a new one if there is none.
func (ts *List) Ensure(uri ahp.URI) *Terminal {
	t := ts.ByURI[uri]
	if t == nil {
		t = &Terminal{URI: uri, Info: ahp.TerminalInfo{Resource: uri}}
		ts.ByURI[uri] = t
	}
	return t
}

// Update takes the list of a host. It gives the terminals that have ended and those
// that are gone.
func (ts *List) Update(host string, list []ahp.TerminalInfo, now time.Time) (ended, lost []*Terminal) {
	listed, loaded := make(map[ahp.URI]bool, len(list)), ts.LoadedOf(host)
	order := make([]ahp.URI, 0, len(list))
	for _, info := range list {
		if hosted.Host(info.Resource) != host {
			continue
		}
		listed[info.Resource] = true
		order = append(order, info.Resource)
		t := ts.ByURI[info.Resource]
		if t == nil {
			t = &Terminal{URI: info.Resource}
			if loaded {
				t.Born = now
			}
			ts.ByURI[info.Resource] = t
		}
		if info.Lifecycle.Exited() && !t.Info.Lifecycle.Exited() {
			ended = append(ended, t)
		}
		t.Info = info
		if info.Meta != nil && info.Meta.Cwd != "" {
			t.Cwd = info.Meta.Cwd
		}
		if ts.Mine(info.Claim) && info.Meta != nil && info.Meta.Principal != "" {
			ts.persons[host] = info.Meta.Principal
		}
	}
	for uri, t := range ts.ByURI {
		if !listed[uri] && hosted.Host(uri) == host {
			delete(ts.ByURI, uri)
			lost = append(lost, t)
		}
	}
	ts.orders[host] = order
	ts.Order = ts.Order[:0]
	for _, name := range slices.Sorted(maps.Keys(ts.orders)) {
		ts.Order = append(ts.Order, ts.orders[name]...)
	}
	ts.Loaded = ts.LoadedOf("")
	return ended, lost
}

// Unnamed forgets a host that has no name any more.
func (ts *List) Unnamed(host string) {
	ts.Update(host, nil, time.Time{})
	delete(ts.orders, host)
	delete(ts.persons, host)
}

// Mine reports whether a claim is this client's.
func (ts *List) Mine(c ahp.Claim) bool {
	return c.Kind == ahp.ClaimClient && c.ClientID == ts.Me
}

// Holder says who holds a terminal, seen from this person.
func (ts *List) Holder(t *Terminal) command.Holder {
	if t == nil {
		return command.Nobody
	}
	c := t.Info.Claim
	switch {
	case t.Asked != 0:
		// What is typed now reaches the host behind the claim.
		return command.Me
	case c.Kind == ahp.ClaimSession && (c.ToolCallID != "" || c.TurnID != ""):
		return command.Agent
	case c.Kind == ahp.ClaimSession:
		return command.Background
	case ts.Mine(c):
		return command.Me
	}
	if person := ts.person(t); t.Info.Meta == nil || person == "" || t.Info.Meta.Principal == "" || t.Info.Meta.Principal == person {
		return command.MyOther
	}
	return command.Other
}

// Left reports whether another client of this very person holds the terminal:
// the one that this person detached, most of the time.
func (ts *List) Left(t *Terminal) bool {
	return ts.Holder(t) == command.MyOther && !t.Exited() && ts.person(t) != "" && t.Info.Meta != nil && t.Info.Meta.Principal == ts.person(t)
}

// Typable reports whether this person may type into the terminal.
func (ts *List) Typable(t *Terminal) bool {
	h := ts.Holder(t)
	return t != nil && (h == command.Me || h == command.MyOther) && !t.Exited()
}

func (t *Terminal) Exited() bool { return t.Info.Lifecycle.Exited() }

// Command is the argv of what was started, nil for a shell.
func (t *Terminal) Command() []string {
	if m := t.Info.Meta; m != nil && !m.RunsShell() {
		return m.Command
	}
	return nil
}

// Layouts are those that show the terminal.
func (t *Terminal) Layouts() []ahp.URI {
	if t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Layouts
}

// ClosesItself reports whether the pane of a terminal that has ended closes: a
// shell's does, whatever its code, which is that of the last command in it. It
// stays when the shell died by a signal, or failed at once with nobody having used
// it.
func (t *Terminal) ClosesItself(now time.Time) bool {
	code := t.Info.Lifecycle.ExitCode
	if code != nil && (t.Passing && *code == 0 || t.Popup && *code != 126 && *code != 127) {
		return true
	}
	if len(t.Command()) > 0 || code == nil {
		return false
	}
	young := !t.Born.IsZero() && now.Sub(t.Born) < youth
	return *code == 0 || !young || t.Typed || t.Info.Meta != nil && t.Info.Meta.LastCommand != nil
}

// Host is the name of the host that has it, "" for this user's own.
func (t *Terminal) Host() string { return hosted.Host(t.URI) }

// FullTitle is the terminal's name and what runs in it, where it has a name.
func (t *Terminal) FullTitle() string {
	if meta := t.Info.Meta; meta != nil && meta.Name != "" && meta.Name == t.Info.Title && words.Clean(meta.Title) != "" {
		return t.Title() + ": " + words.Clean(meta.Title)
	}
	return t.Title()
}

// Title is what the terminal is called: its name, or what runs in it, behind the name of
// another host that has it. The host's
// word is empty only if it knows neither program nor directory.
func (t *Terminal) Title() string {
	host := ""
	if h := t.Host(); h != "" {
		host = h + ":"
	}
	if s := words.Clean(t.Info.Title); s != "" {
		return host + s
	}
	if dir := fileuri.Path(t.Cwd); dir != "" {
		return host + words.Clean(path.Base(dir))
	}
	return host + "terminal"
}

// Shares are those of guests who may look at it.
func (t *Terminal) Shares() []guest.Share {
	if t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Shares
}

// HeldByGuest reports whether one of them holds it.
func (t *Terminal) HeldByGuest() bool {
	return slices.ContainsFunc(t.Shares(), func(s guest.Share) bool {
		token, _, _ := strings.Cut(t.Info.Meta.Principal, " ") // behind it is who a hub says that is
		return token == "token:"+s.Token
	})
}

// Guests says who looks at it of those that it is shared with, "" where it is not.
func (t *Terminal) Guests() string {
	var look []string
	for _, s := range t.Shares() {
		for _, c := range s.Clients {
			who := words.Clean(s.Name)
			if c = words.Clean(c); c != "" {
				who += " (" + c + ")"
			}
			look = append(look, who)
		}
	}
	switch {
	case len(look) > 0:
		return strings.Join(look, ", ") + map[bool]string{true: " looks", false: " look"}[len(look) == 1]
	case len(t.Shares()) > 0:
		return "shared"
	}
	return ""
}

// Quoted is the title as messages name the terminal.
func (t *Terminal) Quoted() string { return fmt.Sprintf("%q", t.Title()) }

// Ask is an agent's question for the terminal, nil for none; t may be nil.
func (t *Terminal) Ask() *ahp.Ask {
	if t == nil || t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Ask
}

// Badge says who holds a terminal and what for, and how that is drawn. shown says
// whether the layout on the screen has it.
func (ts *List) Badge(t *Terminal, shown bool, l *look.Look) (string, look.Style) {
	if t == nil {
		return "", l.Other
	}
	if guests := t.Guests(); guests != "" {
		if held, _ := ts.holding(t, shown, l); held != "" {
			guests = held + ", " + guests
		}
		return guests, l.Warn
	}
	return ts.holding(t, shown, l)
}

// holding is a badge without guests who only look.
func (ts *List) holding(t *Terminal, shown bool, l *look.Look) (string, look.Style) {
	if t.Exited() {
		if code := t.Info.Lifecycle.ExitCode; code != nil && *code == 0 {
			return t.ExitText(), l.Exited
		}
		return t.ExitText(), l.Fail
	}
	switch holder := ts.Holder(t); holder {
	case command.Me, command.MyOther:
		return t.ownBadge(holder == command.MyOther, shown, l)
	case command.Other:
		return "held by " + t.PersonName(), l.Other
	case command.Agent:
		return t.AgentName() + ": " + t.Doing(), l.Agent
	case command.Background:
		if shown && t.Fits() {
			return t.AgentName(), l.Agent
		}
		return t.AgentName() + ", background", l.Background
	}
	return "", l.Other
}

// ownBadge tells of one of this person's terminals what isn't plain: nothing of one
// that is on this screen and typed into here. other says that another client holds
// it.
func (t *Terminal) ownBadge(other, shown bool, l *look.Look) (string, look.Style) {
	detached := t.Info.Meta != nil && t.Info.Meta.Detached
	switch {
	case !shown && len(t.Layouts()) == 0:
		return "background", l.Background
	case other && !detached:
		return "my other client", l.Other
	case other && !shown:
		return "detached", l.Background
	}
	return "", l.Mine
}

// Fits reports whether it has the size of its pane, whoever holds it: an agent's teammate.
func (t *Terminal) Fits() bool { return t.Info.Meta != nil && t.Info.Meta.Fit }

// ExitText says how its program ended.
func (t *Terminal) ExitText() string {
	if code := t.Info.Lifecycle.ExitCode; code != nil {
		return "exited " + strconv.Itoa(*code)
	}
	if t.Info.Meta != nil && t.Info.Meta.Signal != "" {
		return "killed by " + words.Clean(t.Info.Meta.Signal)
	}
	return "exited"
}

// AgentName is a short name of the session that holds a terminal: its agent's,
// or that of the program that drives it, or the end of its address.
func (t *Terminal) AgentName() string {
	if meta := t.Info.Meta; meta != nil {
		if name := words.Clean(cmp.Or(meta.Agent, meta.Holder)); name != "" {
			return name
		}
	}
	return ShortName(t.Info.Claim.Session)
}

// ShortName names a session by the end of its address: "ahp-session:/claude-1"
// is "claude-1".
func ShortName(uri ahp.URI) string {
	if i := strings.LastIndexAny(uri, "/:"); i >= 0 {
		uri = uri[i+1:]
	}
	return cmp.Or(words.Clean(uri), "agent")
}

// PersonName names another person, or their program, that holds a terminal.
func (t *Terminal) PersonName() string {
	meta := t.Info.Meta
	switch {
	case meta == nil:
		return "somebody"
	case meta.Holder != "":
		return words.Clean(meta.Holder)
	case meta.Principal == "operator":
		return "the owner"
	}
	if id, ok := strings.CutPrefix(meta.Principal, "token:"); ok {
		return "token " + words.Clean(id)
	}
	return words.Clean(meta.Principal)
}

// Doing says what a session that holds a terminal is doing: the command that
// runs, or the tool call by its name; ids mean nothing to people.
func (t *Terminal) Doing() string {
	if line := t.RunningLine(); line != "" {
		return line
	}
	if id := words.Clean(t.Info.Claim.ToolCallID); id != "" && !opaque(id) {
		return id
	}
	return "a tool call"
}

// RunningLine is the first line of the command that runs in a terminal, "" for
// none that is known.
func (t *Terminal) RunningLine() string {
	if t.Info.Meta == nil || t.Info.Meta.LastCommand == nil || !t.Info.Meta.LastCommand.Running {
		return ""
	}
	line, _, more := strings.Cut(t.Info.Meta.LastCommand.CommandLine, "\n")
	if line = words.Clean(line); more {
		line += " …"
	}
	return line
}

// opaque reports whether a name is one that a program made for itself.
func opaque(id string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(id, prefix) }
	return slices.ContainsFunc([]string{"toolu_", "call_", "tool_", "tc_", "fc_"}, begins) ||
		strings.ContainsAny(id, "0123456789") && len(id) >= 16 && !strings.Contains(id, " ")
}
