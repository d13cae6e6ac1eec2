package panes

import (
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ui/address"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// Listed handles a host's list of terminals.
func (ps *Panes) Listed(host string, root ahp.RootState) {
	if host == "" {
		ps.layouts.counts = nil
		if root.Meta != nil {
			ps.layouts.counts = root.Meta.Layouts
		}
	}
	first := !ps.Terms.LoadedOf(host)
	given := ps.given(root.Terminals)
	ended, lost := ps.Terms.Update(host, root.Terminals, ps.loop.Now())
	ps.loop.Dirty |= loop.Chrome | loop.Places
	if first {
		ps.Arrived(host)
		return // Begin and Arrived look at all of them
	}
	for _, t := range lost {
		ps.unfollow(t)
		if ps.Begun && !ps.Unseen {
			ps.RemovePane(t.URI)
		}
	}
	for _, t := range ended {
		ps.Ended(t)
	}
	for _, t := range given {
		said := t.AgentName() + " gave you " + t.Quoted()
		if _, shown := ps.Doc.Shown.Showing(t.URI); !shown {
			said += ": " + ps.loop.Keys("terminals") + " shows it"
		}
		ps.loop.Say(status.Info, "%s", said)
	}
}

// given returns the terminals that agents have handed to this client, according to a new list.
func (ps *Panes) given(list []ahp.TerminalInfo) (given []*terminals.Terminal) {
	for _, info := range list {
		t := ps.Terms.Get(info.Resource)
		if t != nil && t.Asked == 0 && t.Info.Claim.Kind == ahp.ClaimSession && ps.Terms.Mine(info.Claim) && !info.Lifecycle.Exited() {
			given = append(given, t)
		}
	}
	return given
}

func (ps *Panes) Confirmed(uri ahp.URI, st ahp.LayoutState) {
	if uri != ps.Doc.URI {
		if r := ps.layouts.read[uri]; r != nil {
			r.state = &st
		}
		return
	}
	if err := ps.Doc.replace(st); err != nil {
		// Going on would overwrite what another client can read.
		ps.do.Broke(fmt.Sprintf("layout %s can't be read: %v", ps.Name, err))
		return
	}
	ps.layoutChanged()
}

// Changed handles a change of a layout. own says that this client made it.
func (ps *Panes) Changed(e ahp.Envelope, a ahp.LayoutChanged, own bool) {
	if e.Channel != ps.Doc.URI {
		return
	}
	if d := &ps.Doc; own && e.Origin.ClientSeq == d.seq {
		d.sent, d.seq, d.retries = nil, 0, 0
	}
	if err := ps.Doc.confirm(ahp.LayoutState(a)); err != nil {
		ps.loop.Fail("read layout "+ps.Name, err)
		return
	}
	ps.layoutChanged()
}

// layoutChanged acts on a new confirmed layout.
func (ps *Panes) layoutChanged() {
	ps.loop.Dirty |= loop.Places | loop.Chrome
	if ps.Begun && !ps.Bare {
		ps.Emptied()
	}
}

// Refused handles the refusal of a change of the layout or of a claim. It reports whether it was
// of the layout.
func (ps *Panes) Refused(e ahp.Envelope) bool {
	if e.Channel == ps.Doc.URI {
		// A restored connection may have sent an older change again; its operations were sent
		// again, too.
		if e.Origin.ClientSeq == ps.Doc.seq && !ps.Doc.refused() {
			ps.loop.Say(status.Error, "the host refused the change: %s", e.RejectionReason)
		}
		ps.loop.Dirty |= loop.Places
		return true
	}
	if t := ps.Terms.Get(e.Channel); t != nil && e.Origin.ClientSeq == t.Asked {
		t.Asked = 0
		ps.loop.Dirty |= loop.Chrome
	}
	return false
}

// Shows handles the snapshot of a terminal.
func (ps *Panes) Shows(uri ahp.URI, st ahp.TerminalState) {
	t := ps.Terms.Ensure(uri)
	t.Feed, t.Ready = ps.link.Sink.Feed(uri), true
	t.Info.Title, t.Info.Claim, t.Info.Lifecycle = st.Title, st.Claim, st.Lifecycle
	t.Cols, t.Rows, t.Want = st.Cols, st.Rows, terminals.Size{}
	if st.Cwd != "" {
		t.Cwd = st.Cwd
	}
	// The host answers an unanswered claim after a snapshot from before the claim. After a
	// snapshot from later it doesn't answer, and another client may have the terminal by then.
	if asked := t.Asked; ps.Terms.Mine(st.Claim) {
		t.Asked = 0
	} else if asked != 0 {
		ps.loop.After(claimTime, func() {
			if t.Asked == asked {
				t.Asked = 0
				ps.loop.Dirty |= loop.Chrome
			}
		})
	}
	ps.loop.Dirty |= loop.Places
}

// claimTime is how long after a snapshot the host may take to answer a claim.
const claimTime = 5 * time.Second

// Acts handles an action of a terminal. own says that this client sent it.
func (ps *Panes) Acts(t *terminals.Terminal, e ahp.Envelope, own bool) {
	ps.loop.Dirty |= loop.Chrome
	switch a := e.Action.(type) {
	case ahp.TerminalTitleChanged:
		t.Info.Title = a.Title
	case ahp.TerminalCwdChanged:
		t.Cwd = a.Cwd
	case ahp.TerminalClaimed:
		if from := t.Info.Claim; from.Kind == ahp.ClaimSession && a.Claim.Kind == ahp.ClaimClient && t.Info.Meta != nil {
			meta := *t.Info.Meta
			meta.HandBack = &from // the list of terminals says so a little later
			t.Info.Meta = &meta
		}
		t.Info.Claim = a.Claim
		if own && e.Origin.ClientSeq == t.Asked {
			t.Asked = 0
		}
		t.Want, t.Sized, t.Theirs = terminals.Size{}, false, !ps.Terms.Mine(a.Claim) // the new holder's pane decides
		ps.loop.Dirty |= loop.Places
	case ahp.TerminalResized:
		t.Cols, t.Rows, t.Sized = a.Cols, a.Rows, e.Origin == nil
		t.Theirs = t.Theirs || !own && ps.Terms.Holder(t) == command.MyOther
		if !own && !t.Sized && !t.Typed && ps.Terms.Mine(t.Info.Claim) {
			t.Want = terminals.Size{} // another client shows the terminal that was just made here
		}
		ps.loop.Dirty |= loop.Places
	case ahp.TerminalExited:
		was := t.Exited()
		t.Info.Lifecycle = ahp.Lifecycle{Status: ahp.StatusExited, ExitCode: a.ExitCode}
		if !was {
			ps.Ended(t)
		}
	}
}

// Gone handles the end of a channel, if it is the layout's or a terminal's.
func (ps *Panes) Gone(channel ahp.URI) {
	switch t := ps.Terms.Get(channel); {
	case channel == ps.Doc.URI:
		ps.Open()
	case t != nil:
		ps.unfollow(t)
		ps.RemovePane(channel)
	}
}

// Begin acts on the first complete state: it closes panes whose terminals are gone or have ended,
// and opens a terminal in an empty layout. It reports whether it did.
func (ps *Panes) Begin() bool {
	if ps.Begun || !ps.Terms.Loaded || !ps.Doc.loaded {
		return false
	}
	ps.Begun = true
	if ps.Unseen {
		return true
	}
	ps.checkTerminals("")
	ps.checked = map[string]bool{}
	for _, host := range ps.link.Hosts.Names() {
		ps.Arrived(host)
	}
	at := ps.layouts.at
	ps.layouts.at = ""
	ps.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(at) })
	if len(ps.Doc.Shown.Tabs) == 0 && ps.Holding == 0 {
		ps.NewTab(Program{})
	}
	return true
}

// Arrived does for another host's terminals what Begin does for this user's: once, when that host
// is connected and has sent its list.
func (ps *Panes) Arrived(host string) {
	if host == "" || !ps.Begun || ps.Unseen || ps.checked[host] || !ps.Terms.LoadedOf(host) || !ps.link.UpAt(hosted.At(host, ahp.RootURI)) {
		return
	}
	ps.checked[host] = true
	before := len(ps.Doc.Shown.Tabs)
	if ps.checkTerminals(host); before > 0 && len(ps.Doc.Shown.Tabs) == 0 {
		ps.NewTab(Program{Host: Own}) // everything in it has ended meanwhile
	}
}

// Left handles the end of the connection to another host: a later connection knows no
// subscriptions. forget says that the host has no name any more.
func (ps *Panes) Left(host string, forget bool) {
	if forget {
		defer ps.Terms.Unnamed(host)
		delete(ps.checked, host)
	}
	for _, t := range ps.Terms.ByURI {
		if t.Host() == host {
			ps.unfollow(t)
		}
	}
}

// checkTerminals closes panes whose terminals on a host are gone or have ended, and claims what
// this person's other clients have left. The host must have sent its list.
func (ps *Panes) checkTerminals(host string) {
	now := ps.loop.Now()
	ps.Apply(func(l layout.Layout) (layout.Layout, error) {
		return l.Prune(ps.Area(), func(uri ahp.URI) bool {
			t := ps.Terms.Get(uri)
			return t != nil && !t.Done || address.IsChat(uri) || hosted.Host(uri) != host
		}), nil
	})
	for _, uri := range ps.Doc.Shown.Terminals() {
		switch t := ps.Terms.Get(uri); {
		case t == nil || t.Host() != host: // a chat, or another host's
		case t.Exited() && t.ClosesItself(now):
			ps.Dispose(t)
		case ps.Terms.Left(t):
			// Attaching claims the terminals that one had left.
			ps.Claim(t)
		}
	}
}

// Ended handles the end of a terminal's program.
func (ps *Panes) Ended(t *terminals.Terminal) {
	ps.loop.Dirty |= loop.Chrome
	if f := ps.then[t.URI]; f != nil {
		delete(ps.then, t.URI)
		f()
	}
	if !ps.Begun || t.Done || ps.Unseen && !t.Popup {
		return
	}
	if _, shown := ps.Doc.Shown.Showing(t.URI); !shown {
		return
	}
	if t.ClosesItself(ps.loop.Now()) {
		ps.Dispose(t)
		ps.Emptied()
	}
}

// Emptied ends the interface if no pane is left, or goes along with a renamed layout.
func (ps *Panes) Emptied() {
	switch l := &ps.Doc.Shown; {
	case len(l.Tabs) > 0 || ps.Holding > 0 || ps.Unseen:
	case l.Renamed != "" && ps.layoutNamed(l.Renamed):
		goAlong(ps, l.Renamed)
	default:
		ps.do.Emptied("the last pane closed")
	}
}
