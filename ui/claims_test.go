package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/guest"
	"tandemux/ui"
)

var (
	running = ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/claude", Chat: "ahp-chat:/c1", TurnID: "t1", ToolCallID: "make test"}
	parked  = ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/claude", Chat: "ahp-chat:/c1"}
	other   = ahp.Claim{Kind: ahp.ClaimClient, ClientID: "laptop"}
)

// withAgent shows an agent's terminal to the right of a shell, focused.
func withAgent(t *testing.T, w, h int) *UI {
	t.Helper()
	u := New(t, Options{W: w, H: h, Host: func(h *Host) { h.Add("agent", running) }})
	u.Press("ctrl+space w")
	u.Type("agent\r")
	return u
}

func TestAgentsPane(t *testing.T) {
	u := withAgent(t, 80, 24)
	u.GoldenStyled("agent")
	u.Type("x")
	u.Shows("claude runs make test here: ctrl+space r takes it")
	agent := u.Host.Terminal("agent")
	if agent.Typed() != "" {
		t.Errorf("an agent's terminal got %q", agent.Typed())
	}
	if cols, rows := agent.Size(); cols != 80 || rows != 24 {
		t.Errorf("an agent's terminal was resized to %dx%d", cols, rows)
	}
	withAgent(t, 40, 12).Golden("agent-small")
}

func TestReclaimAndHandBack(t *testing.T) {
	u := withAgent(t, 80, 24)
	agent := u.Host.Terminal("agent")
	u.Press("ctrl+space r")
	u.Shows("take this terminal from claude, which runs make test? y/n")
	u.Press("n")
	if agent.Holder() != running {
		t.Errorf("after a no it is held by %+v", agent.Holder())
	}
	u.Press("ctrl+space r", "y")
	u.Shows("taken from claude (make test); ctrl+space B hands it back")
	if agent.Holder() != (ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}) {
		t.Errorf("held by %+v", agent.Holder())
	}
	if cols, _ := agent.Size(); cols == 80 {
		t.Error("the terminal did not get the size of its new holder's pane")
	}
	u.Type("mine now")
	if agent.Typed() != "mine now" {
		t.Errorf("typed %q", agent.Typed())
	}
	u.Press("ctrl+space r")
	u.Shows("Reclaim: this terminal is already yours")
	agent.Begin("vi notes")
	u.WaitIdle()
	u.Press("ctrl+space B")
	u.Shows("vi notes runs here: hand it to claude? y/n")
	u.Press("y")
	if agent.Holder() != running {
		t.Errorf("handed back to %+v", agent.Holder())
	}
	u.Press("ctrl+space h", "ctrl+space B")
	u.Shows("Hand back: no session had this terminal before you")
}

func TestBackgroundOfAToolCall(t *testing.T) {
	u := withAgent(t, 80, 24)
	agent := u.Host.Terminal("agent")
	u.Press("ctrl+space b")
	if agent.Holder() != parked {
		t.Errorf("the claim is %+v, want it narrowed to session and chat", agent.Holder())
	}
	u.Advance(5 * time.Second)
	u.Golden("agent-background")
	u.Type("x")
	u.Shows("claude holds this terminal: ctrl+space r takes it")
	u.Press("ctrl+space b")
	u.Shows("in the background already")
}

func TestBackgroundOfOnesOwn(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space b")
	u.Hides("│")
	u.Shows(`"sh2" runs in the background: ctrl+space w shows it`)
	if got := u.Host.Terminals(); !slices.Equal(got, []string{"sh1", "sh2"}) {
		t.Errorf("terminals %v", got)
	}
	u.Press("ctrl+space w")
	u.GoldenStyled("terminals-background")
	u.Press("esc")
	// The last pane may go to the background too; nothing ends.
	u.Press("ctrl+space b")
	if _, quit := u.Ended(); quit {
		t.Fatal("sending the last pane to the background ended the interface")
	}
	u.Advance(5 * time.Second)
	u.Golden("no-pane")
	u.Press("ctrl+space w", "enter")
	u.Shows("$")
	if _, tb := tab(t, u); len(tb.Panes()) != 1 {
		t.Errorf("%d panes", len(tb.Panes()))
	}
}

func TestTerminalList(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		h.Add("agent", running)
		h.Add("server", parked)
		h.Add("elsewhere", other).Person("bob")
	}})
	u.Press("ctrl+space c", "ctrl+space w")
	u.Golden("terminals")
	u.Press("down")
	u.Type("serv")
	u.Golden("terminals-filter")
	u.Press("esc")
	u.Hides("Terminals")

	u.Press("ctrl+space w")
	u.Type("agent")
	u.Press("alt+r")
	u.Shows("take this terminal from ")
	u.Press("y")
	u.Shows("Terminals")
	if got := u.Host.Terminal("agent").Holder().ClientID; got != ClientID {
		t.Errorf("after taking it the agent's terminal is held by %q", got)
	}
	u.Press("enter")
	u.Shows("─ agent ─")
	u.Press("ctrl+space w")
	u.Type("sh1\r")
	if got := focusTitle(t, u); got != "sh1" {
		t.Errorf("choosing a terminal that shows focuses %s", got)
	}

	u.Press("ctrl+space w")
	u.Type("server")
	u.Press("alt+x")
	u.Shows(`end "server"? y/n`)
	u.Press("y")
	u.Shows("Terminals")
	u.Press("esc")
	if got := u.Host.Terminals(); slices.Contains(got, "server") {
		t.Errorf("terminals %v", got)
	}
	s := New(t, Options{W: 40, H: 12, Host: func(h *Host) { h.Add("agent", running) }})
	s.Press("ctrl+space w")
	s.Golden("terminals-small")
}

// TestLongQuestionIsWhole: what is to be interrupted is read whole before it is.
func TestLongQuestionIsWhole(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		a := h.Add("agent", running)
		a.Begin("make " + strings.Repeat("one two three ", 10) + "THE-END")
	}})
	u.Press("ctrl+space w")
	u.Type("agent")
	u.Press("alt+r")
	u.Shows("take this terminal from ")
	u.Shows("THE-END? y/n")
}

// TestPromotionIsSaid: what an agent gives this person is announced, with the key that
// shows it (T18).
func TestPromotionIsSaid(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Add("server", parked) }})
	u.Host.Terminal("server").Claim(ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID})
	u.Host.list()
	u.WaitIdle()
	u.Shows(`gave you "server": ctrl+space w shows it`)
	u.Press("ctrl+space w")
	u.Type("server\r")
	if got := focusTitle(t, u); got != "server" {
		t.Errorf("it shows %s", got)
	}
}

func TestListFollowsTheHost(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space w")
	u.Host.Add("late", parked)
	u.WaitIdle()
	u.Shows("late")
	u.Press("down", "alt+b")
	u.Shows("runs in the background already")
	u.Press("tab", "x", "y")
	u.Advance(5 * time.Second)
	u.Hides("late")
	u.Press("esc")
	u.Hides("Terminals")
}

func TestOtherClients(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		h.Add("mine2", other).Person(Person)
		h.Add("bobs", other).Person("bob")
	}})
	u.Press("ctrl+space w")
	u.Type("mine2\r")
	u.Type("x")
	if got := u.Host.Terminal("mine2"); got.Typed() != "x" || got.Holder().ClientID != ClientID {
		t.Errorf("typing into what another client of mine holds: %q, held by %+v", got.Typed(), got.Holder())
	}
	u.Press("ctrl+space w")
	u.Type("bobs\r")
	u.Shows("held by bob")
	u.Type("y")
	u.Shows("bob holds this terminal: ctrl+space r takes it")
	bobs := u.Host.Terminal("bobs")
	if got := bobs.Typed(); got != "" {
		t.Errorf("bob's terminal got %q", got)
	}
	// What runs there is asked about first; at a prompt nothing is interrupted.
	bobs.Begin("vi notes")
	u.WaitIdle()
	u.Press("ctrl+space r")
	u.Shows("take this terminal from bob, which runs vi notes? y/n")
	u.Press("n")
	bobs.End(0, 1)
	u.WaitIdle()
	u.Press("ctrl+space r")
	u.Shows("taken from bob")
	if got := bobs.Holder().ClientID; got != ClientID {
		t.Errorf("held by %s", got)
	}
}

func TestAttachingTakesOnesOwn(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	u.Host.Terminal("sh1").Claim(other)
	u.Host.Terminal("sh1").Person(Person)
	u.Host.Terminal("sh2").Claim(other)
	u.Host.Terminal("sh2").Person("bob")
	u.Press("ctrl+space d")
	again := u.Again(Options{Config: func(c *ui.Config) { c.Person = Person }})
	again.Golden("attached-own")
	if got := u.Host.Terminal("sh1").Holder().ClientID; got != ClientID {
		t.Errorf("one's own is held by %s", got)
	}
	if got := u.Host.Terminal("sh2").Holder().ClientID; got != "laptop" {
		t.Errorf("bob's is held by %s", got)
	}
}

func TestShellExitClosesItsPane(t *testing.T) {
	for _, code := range []int{0, 1, 130} {
		u := start(t)
		u.Press("ctrl+space |")
		u.Advance(3 * time.Second)
		u.Host.Terminal("sh2").Exit(code, "")
		u.WaitIdle()
		u.Hides("│")
		if got := u.Host.Terminals(); !slices.Equal(got, []string{"sh1"}) {
			t.Errorf("code %d: terminals %v", code, got)
		}
	}
}

func TestLastShellEndsTheInterface(t *testing.T) {
	u := start(t)
	u.Advance(3 * time.Second)
	u.Host.Terminal("sh1").Exit(0, "")
	u.WaitIdle()
	if exit, quit := u.Ended(); !quit || exit.Reason != ui.Emptied {
		t.Errorf("ended %v with %+v", quit, exit)
	}
}

// A shell that was given as a command closes its pane as any shell does.
func TestExitOfACommandThatIsAShell(t *testing.T) {
	for _, shell := range []bool{true, false} {
		u := start(t)
		job := u.Host.AddCommand("job", ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}, "bash", "-i")
		job.Describe(func(m *ahp.TerminalMeta) { m.CommandIsShell = shell })
		u.Press("ctrl+space w")
		u.Type("job\r")
		u.Advance(3 * time.Second)
		job.Exit(1, "")
		u.WaitIdle()
		if stays := slices.Contains(u.Host.Terminals(), "job"); stays == shell {
			t.Errorf("a shell %v: its terminal is kept %v", shell, stays)
		}
	}
}

func TestExitsThatStay(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(u *UI) string
		want string
	}{
		{"young", func(u *UI) string {
			u.Press("ctrl+space |")
			u.Host.Terminal("sh2").Exit(1, "")
			return "sh2"
		}, "exited 1"},
		{"signal", func(u *UI) string {
			u.Press("ctrl+space |")
			u.Advance(time.Minute)
			u.Host.Terminal("sh2").Exit(0, "SIGKILL")
			return "sh2"
		}, "killed by SIGKILL"},
		{"command", func(u *UI) string {
			t := u.Host.AddCommand("job", ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}, "make", "all")
			u.Press("ctrl+space w")
			u.Type("job\r")
			u.Advance(time.Minute)
			t.Exit(0, "")
			return "job"
		}, "exited 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := start(t)
			title := c.do(u)
			u.WaitIdle()
			u.Shows(c.want, "enter or x closes the pane")
			if c.name == "signal" {
				u.GoldenStyled("exited")
			}
			n := len(u.Host.Sent)
			u.Type("ls")
			if got := u.Host.Sent[n:]; len(got) > 0 {
				t.Errorf("typing at a dead program sends %v", got)
			}
			if c.name == "young" {
				u.Press("enter")
			} else {
				u.Type("x")
			}
			u.Hides(c.want)
			if got := u.Host.Terminals(); slices.Contains(got, title) {
				t.Errorf("terminals %v", got)
			}
		})
	}
}

func TestExitsWhileDetached(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space d")
	u.Advance(time.Minute)
	u.Host.Terminal("sh2").Exit(0, "")
	again := u.Again(Options{})
	again.Hides("│", "sh2")
	if got := u.Host.Terminals(); !slices.Equal(got, []string{"sh1"}) {
		t.Errorf("terminals %v", got)
	}
	again.Press("ctrl+space d")
	u.Host.Terminal("sh1").Exit(0, "")
	// Everything ended meanwhile: there is a new shell, not an empty screen.
	third := u.Again(Options{})
	third.Shows("$")
	if _, quit := third.Ended(); quit {
		t.Error("attaching to an empty layout ends")
	}
}

func TestTerminalVanishes(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	if err := u.Host.Call(t.Context(), ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: u.Host.Terminal("sh1").URI}, nil); err != nil {
		t.Fatal(err)
	}
	u.WaitIdle()
	u.Hides("│", "sh1")
}

func TestLetterbox(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	u.Type("x")
	sh.Resize(30, 8)
	sh.Print("\x1b[2J\x1b[Hsmaller")
	u.WaitIdle()
	u.Golden("letterbox")
	// Typing decides the size.
	u.Type("x")
	if cols, rows := sh.Size(); cols != 80 || rows != 23 {
		t.Errorf("after typing it is %dx%d", cols, rows)
	}
	sh.Resize(120, 40)
	sh.Print("\x1b[2J\x1b[40;110Hfar away")
	u.WaitIdle()
	u.Shows("far away")
	if cur := u.Outer().Cursor(); !cur.Visible || cur.X > 79 || cur.Y != 22 {
		t.Errorf("the cursor is at %+v", cur)
	}
}

func TestSizesFollowThePanes(t *testing.T) {
	u := start(t)
	u.Resize(100, 30)
	if cols, rows := u.Host.Terminal("sh1").Size(); cols != 100 || rows != 29 {
		t.Errorf("after a resize it is %dx%d", cols, rows)
	}
	n := len(u.Host.Sent)
	u.Resize(100, 30)
	if got := u.Host.Sent[n:]; len(got) > 0 {
		t.Errorf("the same size again sends %v", got)
	}
}

func TestTooSmall(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space -", "ctrl+space |")
	u.Resize(10, 3)
	u.Golden("tiny")
	u.Resize(3, 2)
	u.Resize(1, 1)
	u.Resize(80, 24)
	u.Shows("─ sh4 ─")
	u.Type("ok")
	if got := u.Host.Terminal("sh4").Typed(); got != "ok" {
		t.Errorf("typed %q", got)
	}
}

func TestTwoClientsChangeOneLayout(t *testing.T) {
	u := start(t)
	// Another client renames the tab; this one's split is refused once, then
	// done on the new layout.
	l, _ := tab(t, u)
	uris := l.Terminals()
	renamed := l.RenameTab(0, "theirs")
	once := true
	u.Host.Refuse = func(uri ahp.URI, a ahp.Action) string {
		if _, ok := a.(ahp.LayoutChanged); ok && once {
			once = false
			u.Host.Other("main", renamed.Encode(), uris)
			return "" // the revision is behind now
		}
		return ""
	}
	u.Press("ctrl+space |")
	u.Shows("1 theirs", "─ sh2 ─")
	if _, tb := tab(t, u); tb.Name != "theirs" || len(tb.Panes()) != 2 {
		t.Errorf("the host has tab %q with %d panes", tb.Name, len(tb.Panes()))
	}
}

func TestLayoutOfAnotherVersionIsLeftAlone(t *testing.T) {
	doc := []byte(`{"tabs": "of the future"}`)
	u := New(t, Options{Host: func(h *Host) { h.Other("main", doc, nil) }})
	if exit, quit := u.Ended(); !quit || !strings.Contains(exit.Note, "layout main can't be read") {
		t.Errorf("ended %v with %+v", quit, exit)
	}
	if got := u.Host.Layout("main"); string(got.Doc) != string(doc) {
		t.Errorf("the layout is now %s", got.Doc)
	}
	if got := u.Host.Terminals(); len(got) > 0 {
		t.Errorf("terminals %v", got)
	}
}

func TestRefusals(t *testing.T) {
	u := start(t)
	u.Host.Refuse = func(_ ahp.URI, a ahp.Action) string {
		switch a.(type) {
		case ahp.LayoutChanged:
			return "the layout is full"
		case ahp.TerminalInput:
			return "not now"
		}
		return ""
	}
	u.Press("ctrl+space z")
	u.Type("x")
	u.Shows("refused: not now")
	u.Press("ctrl+space .")
	u.Type("name\r")
	u.Shows("the host refused the change: the layout is full")
	u.Hides("1 name")
}

// TestRefusalOfAChangeThatWentAgain: a connection that comes back sends a change of the layout
// again that it has no answer to, and the interface makes it anew on the layout of now. The host
// refuses the older one, which is nobody's business.
func TestRefusalOfAChangeThatWentAgain(t *testing.T) {
	u := start(t)
	u.Host.quiet = true
	u.Press("ctrl+space .")
	u.Type("name\r")
	u.Host.quiet = false
	sent := u.Host.clientSeq
	u.Host.Reconnect(nil)
	u.WaitIdle()
	u.Shows("1 name")
	now := u.Host.Layout("main")
	u.Host.sink.Action(ahp.Envelope{
		Channel: ahp.LayoutScheme + "/main", Action: ahp.LayoutChanged(now), ServerSeq: u.Host.seq,
		Origin: &ahp.Origin{ClientID: ClientID, ClientSeq: sent}, RejectionReason: "revision 2 does not follow 2",
	})
	u.WaitIdle()
	u.Shows("1 name")
	u.Hides("refused")
}

func TestHiddenTerminalsAreLetGo(t *testing.T) {
	u := start(t)
	for range 12 {
		u.Press("ctrl+space c")
	}
	n := 0
	for _, title := range u.Host.Terminals() {
		if u.Host.Follows(u.Host.Terminal(title).URI) {
			n++
		}
	}
	if n > 9 {
		t.Errorf("%d of 13 terminals are followed", n)
	}
	u.Host.Terminal("sh1").Print("while away")
	u.Press("ctrl+space 1")
	u.Shows("while away")
}

func TestReconnect(t *testing.T) {
	u := start(t)
	u.Type("before")
	u.Host.Reconnect(func() {
		u.Host.Terminal("sh1").Print(" during")
		u.WaitIdle()
		u.Golden("reconnecting")
		u.Press("ctrl+space |")
		u.Shows("Split right: the host does not answer")
		u.Type(" kept")
		u.Shows("5 keys wait")
	})
	u.WaitIdle()
	u.Shows("before during", "connected again")
	u.Type("!")
	if got := u.Host.Terminal("sh1").Typed(); got != "before kept!" {
		t.Errorf("typed %q", got)
	}
}

func TestLayoutNamesStayClean(t *testing.T) {
	u := start(t)
	u.Host.Terminal("sh1").SetTitle("evil\x1b[2J\x07\u202e\u2028\u200f\u061c\u009b\u2066title")
	u.WaitIdle()
	u.Shows("1 evil[2Jtitle")
	if got := u.Outer().Title(); got != "evil[2Jtitle" {
		t.Errorf("window title %q", got)
	}
}

// TestShellsThatPeopleEnd: a shell that a person ends closes its pane, whatever its
// last command came to, also when it lived for a moment only.
func TestShellsThatPeopleEnd(t *testing.T) {
	for name, use := range map[string]func(u *UI){
		"typed":   func(u *UI) { u.Type("exit 3\r") },
		"command": func(u *UI) { u.Host.Terminal("sh2").Run("false", "", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			u := start(t)
			u.Press("ctrl+space |")
			use(u)
			u.Host.Terminal("sh2").Exit(3, "")
			u.WaitIdle()
			u.Hides("exited 3")
			if got := u.Host.Terminals(); !slices.Equal(got, []string{"sh1"}) {
				t.Errorf("terminals %v", got)
			}
		})
	}
}

// TestClosingAtAPrompt: closing asks when something runs or that is not known, and
// not at a prompt.
func TestClosingAtAPrompt(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(sh *Terminal)
		asks bool
	}{
		{"not known", func(*Terminal) {}, true},
		{"nothing has run", (*Terminal).Detect, false},
		{"done", func(sh *Terminal) { sh.Run("make", "", 2) }, false},
		{"running", func(sh *Terminal) { sh.Run("make", "", 2); sh.Begin("vim") }, true},
		{"an agent's", func(sh *Terminal) { sh.Run("make", "", 2); sh.Claim(running) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := start(t)
			u.Press("ctrl+space |")
			c.do(u.Host.Terminal("sh2"))
			u.WaitIdle()
			u.Press("ctrl+space x")
			if asked := strings.Contains(u.Screen(), "y/n"); asked != c.asks {
				t.Errorf("asked: %v", asked)
			}
			if n := len(u.Host.Terminals()); (n == 2) != c.asks {
				t.Errorf("there are %d terminals", n)
			}
		})
	}
}

// TestShared: a pane says who looks at its terminal, and a key ends that; what the guest
// held is this client's then.
func TestShared(t *testing.T) {
	u := New(t, Options{W: 140, H: 24})
	u.Press("ctrl+space Q")
	u.Shows("End sharing: this terminal is not shared: tandemux share does")
	shell := u.Host.Terminal("sh1")
	share := guest.Share{Token: "0a", Name: "ana", ReadOnly: true}
	u.Advance(time.Minute) // the message goes
	describe := func(change func(m *ahp.TerminalMeta)) {
		t.Helper()
		shell.Describe(func(m *ahp.TerminalMeta) { change(m) })
		u.WaitIdle()
	}
	describe(func(m *ahp.TerminalMeta) { m.Shares = []guest.Share{share} })
	u.Shows("shared")
	share.Clients = []string{"Firefox on Linux\x1b[31m"}
	describe(func(m *ahp.TerminalMeta) { m.Shares = []guest.Share{share} })
	u.Shows("ana (Firefox on Linux[31m) looks")
	u.Golden("shared")
	shell.Claim(ahp.Claim{Kind: ahp.ClaimClient, ClientID: "tandemux-browser-1"})
	describe(func(m *ahp.TerminalMeta) { m.Principal, m.Holder = "token:0a", "ana" })
	u.Shows("held by ana, ana (Firefox on Linux[31m) looks")
	u.Press("ctrl+space Q")
	u.Shows("nobody else looks at it any more")
	if !slices.Contains(u.Host.Sent, "end the shares of "+shell.URI) {
		t.Errorf("sent was %q", u.Host.Sent)
	}
	if shell.Holder() != (ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}) {
		t.Errorf("held by %+v", shell.Holder())
	}
}
