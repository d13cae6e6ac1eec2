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

// youth is how long a shell must have run for its pane to close when it exits. The output of a
// shell that ends sooner may explain why.
const youth = 2 * time.Second

// Terminal is what this client knows of a terminal.
type Terminal struct {
	URI  ahp.URI
	Info ahp.TerminalInfo // from the root channel, updated by the terminal's own channel
	Cwd  ahp.URI

	// About its subscription.
	Feed       *pane.Feed // nil without a subscription
	Ready      bool       // its snapshot has arrived
	Cols, Rows int        // its size at the host
	Want       Size       // the size that this client last asked for; zero to ask again
	Asked      int64      // dispatch of a claim that the host has not answered; 0 for none
	Shown      int        // when it was last on the screen, as a rising number

	Born  time.Time // when it was first listed; zero if it was in the first list
	Typed bool      // this person has typed into it in this interface
	// Passing says that its pane closes if the program exits with 0.
	Passing bool
	// Popup says that its pane closes when the program has ended, with any exit code except 126
	// and 127: the program could not be started.
	Popup bool
	// Theirs says that another client claimed or resized it while this client had it. That client
	// sets its size until somebody types here.
	Theirs bool
	// Sized says that the program set its own size, which stays until the pane's size changes.
	Sized bool
	// Done says that it was closed here; further messages about it are ignored.
	Done bool
}

// Size is a size in cells.
type Size struct{ Cols, Rows int }

// List has all terminals: this user's host's in its order, then the other hosts'.
type List struct {
	ByURI  map[ahp.URI]*Terminal
	Order  []ahp.URI
	Loaded bool   // the root snapshot of this user's host has arrived
	Me     string // this client's id
	// orders has each host's terminals in its order, and persons this person's principal at each
	// host, if known. The keys are host names, "" for this user's own.
	orders  map[string][]ahp.URI
	persons map[string]string
}

// New makes an empty list for a client and its person's principal, "" if unknown.
func New(me, person string) *List {
	return &List{ByURI: map[ahp.URI]*Terminal{}, Me: me, orders: map[string][]ahp.URI{}, persons: map[string]string{"": person}}
}

// Known sets the principal that a host knows this person as.
func (ts *List) Known(host, person string) { ts.persons[host] = person }

// LoadedOf reports whether a host has sent its list.
func (ts *List) LoadedOf(host string) bool {
	_, is := ts.orders[host]
	return is
}

// person is this person's principal at the host of a terminal, "" if unknown.
func (ts *List) person(t *Terminal) string { return ts.persons[hosted.Host(t.URI)] }

// Get returns a terminal, nil if there is none.
func (ts *List) Get(uri ahp.URI) *Terminal { return ts.ByURI[uri] }

// Ensure returns the terminal's entry, and adds it if there is none.
func (ts *List) Ensure(uri ahp.URI) *Terminal {
	t := ts.ByURI[uri]
	if t == nil {
		t = &Terminal{URI: uri, Info: ahp.TerminalInfo{Resource: uri}}
		ts.ByURI[uri] = t
	}
	return t
}

// Update replaces a host's list. It returns the terminals whose program has ended since, and
// those that are gone.
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

// Unnamed removes a host that has no name any more.
func (ts *List) Unnamed(host string) {
	ts.Update(host, nil, time.Time{})
	delete(ts.orders, host)
	delete(ts.persons, host)
}

// Mine reports whether a claim is this client's.
func (ts *List) Mine(c ahp.Claim) bool {
	return c.Kind == ahp.ClaimClient && c.ClientID == ts.Me
}

// Holder says who holds a terminal, as seen by this person.
func (ts *List) Holder(t *Terminal) command.Holder {
	if t == nil {
		return command.Nobody
	}
	c := t.Info.Claim
	switch {
	case t.Asked != 0:
		// Input that is sent now reaches the host after the claim.
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

// Left reports whether another client of this same person holds the terminal, mostly one that has
// detached.
func (ts *List) Left(t *Terminal) bool {
	return ts.Holder(t) == command.MyOther && !t.Exited() && ts.person(t) != "" && t.Info.Meta != nil && t.Info.Meta.Principal == ts.person(t)
}

// Typable reports whether this person may type into the terminal.
func (ts *List) Typable(t *Terminal) bool {
	h := ts.Holder(t)
	return t != nil && (h == command.Me || h == command.MyOther) && !t.Exited()
}

func (t *Terminal) Exited() bool { return t.Info.Lifecycle.Exited() }

// Command is the argv of the terminal's program, nil for a shell.
func (t *Terminal) Command() []string {
	if m := t.Info.Meta; m != nil && !m.RunsShell() {
		return m.Command
	}
	return nil
}

// Layouts is the layouts that show the terminal.
func (t *Terminal) Layouts() []ahp.URI {
	if t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Layouts
}

// ClosesItself reports whether the pane closes, now that the terminal's program has ended. A
// shell's pane closes whatever the exit code, which is that of its last command. It stays open if
// a signal killed the shell, or if it failed at once without having been used.
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

// Host is the name of its host, "" for this user's own.
func (t *Terminal) Host() string { return hosted.Host(t.URI) }

// FullTitle is the terminal's name followed by the program's title, or Title if it has no name.
func (t *Terminal) FullTitle() string {
	if meta := t.Info.Meta; meta != nil && meta.Name != "" && meta.Name == t.Info.Title && words.Clean(meta.Title) != "" {
		return t.Title() + ": " + words.Clean(meta.Title)
	}
	return t.Title()
}

// Title is the terminal's name, or what runs in it, after the name of another host that has it.
// The host's title is empty only if it knows neither the program nor the directory.
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

// Shares is its shares with guests, who may look at it.
func (t *Terminal) Shares() []guest.Share {
	if t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Shares
}

// HeldByGuest reports whether a guest holds it.
func (t *Terminal) HeldByGuest() bool {
	return slices.ContainsFunc(t.Shares(), func(s guest.Share) bool {
		token, _, _ := strings.Cut(t.Info.Meta.Principal, " ") // a hub adds who that is
		return token == "token:"+s.Token
	})
}

// Guests says which guests look at it, "" if it is not shared.
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

// Quoted is the title in quotes, for messages.
func (t *Terminal) Quoted() string { return fmt.Sprintf("%q", t.Title()) }

// Ask is an agent's question about the terminal, nil for none; t may be nil.
func (t *Terminal) Ask() *ahp.Ask {
	if t == nil || t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Ask
}

// Badge says who holds a terminal and why, and returns the style of that text. shown says whether
// the layout on the screen has the terminal.
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

// holding is Badge without guests who only look.
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

// ownBadge is the badge of one of this person's terminals: nothing if it is on this screen and
// held by this client. other says that another client holds it.
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

// Fits reports whether the terminal has the size of its pane whoever holds it, as an agent's
// teammate does.
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

// AgentName is a short name of the session that holds a terminal: the agent's, else that of the
// program that drives it, else the end of its URI.
func (t *Terminal) AgentName() string {
	if meta := t.Info.Meta; meta != nil {
		if name := words.Clean(cmp.Or(meta.Agent, meta.Holder)); name != "" {
			return name
		}
	}
	return ShortName(t.Info.Claim.Session)
}

// ShortName is the end of a session's URI: of "ahp-session:/claude-1" it is "claude-1".
func ShortName(uri ahp.URI) string {
	if i := strings.LastIndexAny(uri, "/:"); i >= 0 {
		uri = uri[i+1:]
	}
	return cmp.Or(words.Clean(uri), "agent")
}

// PersonName names the other person, or their program, that holds a terminal.
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

// Doing says what the session that holds a terminal is doing: the running command, or the name of
// the tool call. An id means nothing to people.
func (t *Terminal) Doing() string {
	if line := t.RunningLine(); line != "" {
		return line
	}
	if id := words.Clean(t.Info.Claim.ToolCallID); id != "" && !opaque(id) {
		return id
	}
	return "a tool call"
}

// RunningLine is the first line of the command that runs in a terminal, "" if none is known.
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

// opaque reports whether an id was generated by a program.
func opaque(id string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(id, prefix) }
	return slices.ContainsFunc([]string{"toolu_", "call_", "tool_", "tc_", "fc_"}, begins) ||
		strings.ContainsAny(id, "0123456789") && len(id) >= 16 && !strings.Contains(id, " ")
}
