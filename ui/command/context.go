package command

import "fmt"

// Holder says who holds the focused pane's terminal, as seen by this person.
type Holder uint8

const (
	// Nobody means that there is no focused pane, or that its terminal is gone.
	Nobody Holder = iota
	// Me is this client.
	Me
	// MyOther is another client of the same person.
	MyOther
	// Other is another person's client.
	Other
	// Agent is a session with a tool call running.
	Agent
	// Background is a session without a tool call.
	Background
)

// Context is the state that decides which commands can run. The root model sets it. The zero
// value is an empty layout without a host.
type Context struct {
	Args []string // of the command; set by Why

	Connected bool // the host answers
	Layout
	Terminal
	View

	Alerts  bool // another terminal or a chat has an alert
	Asked   bool // an agent asks for a terminal, or whether a tool may run
	Chat    bool // the focused pane shows a chat
	Buffers int  // number of paste buffers
}

// Layout is the state of the layout on the screen.
type Layout struct {
	Tabs     int  // in the layout
	LastTab  bool // another tab was active before
	TabsFull bool // no more tabs are allowed

	Layouts    int  // number on the host
	LastLayout bool // another layout was shown before

	Panes     int  // in the active tab
	LastPane  bool // another pane was focused before
	PanesFull bool // no more panes are allowed in this tab
	Floating  bool // the focused pane is a floating one
	Stacked   bool // the focused pane is in a stack
	Marked    bool // a pane other than the focused one is marked

	// The focused pane has a neighbour in that direction.
	Left, Down, Up, Right bool
	// There is room to split the focused pane.
	RoomRight, RoomDown bool
}

// Terminal is the state of the focused terminal.
type Terminal struct {
	Holder   Holder
	Exited   bool // its process has ended
	HandBack bool // a session had it before this person took it
	Shared   bool // a guest may look at it
	Linked   bool // it belongs to a chat, or the focused chat has a terminal
}

// View is the state of the focused pane's view.
type View struct {
	Scroll  int  // lines that it is scrolled back
	History int  // the most lines that it can be scrolled back
	Copying bool // copy mode is on
	Chosen  bool // text is selected

	Detects    bool // the shell marks its commands
	Commands   bool // a command has run
	FullScreen bool // the program uses the alternate screen
	// There is a command above or below the visible lines.
	Previous, Next bool
}

// reason says why something can't be done, "" if it can.
type reason func(Context) string

// unless returns a reason of a condition.
func unless(ok func(Context) bool, why string) reason {
	return func(c Context) string {
		if ok(c) {
			return ""
		}
		return why
	}
}

var (
	connected = unless(func(c Context) bool { return c.Connected }, "the host does not answer")
	pane      = unless(func(c Context) bool { return c.Panes > 0 }, "there is no pane")
	several   = unless(func(c Context) bool { return c.Panes > 1 }, "this tab has no other pane")
	tab       = unless(func(c Context) bool { return c.Tabs > 0 }, "there is no tab")
	tabs      = unless(func(c Context) bool { return c.Tabs > 1 }, "there is no other tab")
	lastTab   = unless(func(c Context) bool { return c.LastTab }, "no other tab was active before")
	lastPane  = unless(func(c Context) bool { return c.LastPane }, "no other pane was focused before")
	moreTabs  = unless(func(c Context) bool { return !c.TabsFull }, "this layout has as many tabs as it can")
	morePanes = unless(func(c Context) bool { return !c.PanesFull }, "this tab has as many panes as it can")

	marked = unless(func(c Context) bool { return c.Marked }, "no other pane is marked")

	floating  = unless(func(c Context) bool { return c.Floating }, "this pane does not float")
	inStack   = unless(func(c Context) bool { return c.Stacked }, "this pane is in no stack")
	left      = unless(func(c Context) bool { return c.Left }, "no pane to the left")
	down      = unless(func(c Context) bool { return c.Down }, "no pane below")
	up        = unless(func(c Context) bool { return c.Up }, "no pane above")
	right     = unless(func(c Context) bool { return c.Right }, "no pane to the right")
	beside    = unless(func(c Context) bool { return c.Left || c.Right || c.Floating }, "no pane beside this one")
	stacked   = unless(func(c Context) bool { return c.Up || c.Down || c.Floating }, "no pane above or below this one")
	roomRight = unless(func(c Context) bool { return c.RoomRight }, "this pane is too narrow to split")
	roomDown  = unless(func(c Context) bool { return c.RoomDown }, "this pane is not high enough to split")

	alerted  = unless(func(c Context) bool { return c.Alerts }, "no other terminal has anything to tell")
	asked    = unless(func(c Context) bool { return c.Asked }, "no agent waits for an answer")
	chat     = unless(func(c Context) bool { return c.Chat }, "this pane shows no chat")
	linked   = unless(func(c Context) bool { return c.Linked }, "no chat has to do with this pane")
	terminal = unless(func(c Context) bool { return c.Holder != Nobody }, "there is no terminal here")
	running  = unless(func(c Context) bool { return !c.Exited }, "the program here has ended")
	notMine  = unless(func(c Context) bool { return c.Holder != Me }, "this terminal is already yours")
	shared   = unless(func(c Context) bool { return c.Shared }, "this terminal is not shared: tandemux share does")
	handBack = unless(func(c Context) bool { return c.HandBack }, "no session had this terminal before you")

	// In copy mode the cursor can move where the view can't scroll.
	older    = unless(func(c Context) bool { return c.Copying || c.Scroll < c.History }, "there is nothing above")
	newer    = unless(func(c Context) bool { return c.Copying || c.Scroll > 0 }, "there is nothing below")
	buffered = unless(func(c Context) bool { return c.Buffers > 0 }, "nothing was copied yet")
	detects  = unless(func(c Context) bool { return c.Detects || c.Commands }, "this shell does not mark its commands")
	ran      = unless(func(c Context) bool { return c.Commands }, "no command has run here yet")
	mainText = unless(func(c Context) bool { return !c.FullScreen }, "the program here shows its own screen")
	previous = unless(func(c Context) bool { return c.Previous }, "there is no command above")
	next     = unless(func(c Context) bool { return c.Next }, "there is no command below")
	selected = unless(func(c Context) bool { return c.Copying || c.Chosen }, "nothing is selected")
	copying  = unless(func(c Context) bool { return c.Copying }, "copy mode is not on")
)

// mine says why the person can't type into the terminal.
func mine(c Context) string {
	switch c.Holder {
	case Me, MyOther:
		return ""
	case Agent:
		return "an agent holds this terminal; reclaim it first"
	case Background:
		return "a session holds this terminal; reclaim it first"
	case Other:
		return "someone else holds this terminal; reclaim it first"
	default:
		return "there is no terminal here"
	}
}

// tabGiven says why there is no tab of the number given, if one was given.
func tabGiven(c Context) string {
	if len(c.Args) == 0 {
		return ""
	}
	return tabExists(c)
}

// tabExists and paneExists say why there is no tab or pane of the number given.
func tabExists(c Context) string  { return within(c, "tab", c.Tabs) }
func paneExists(c Context) string { return within(c, "pane", c.Panes) }

// within says that there is no such number.
func within(c Context, what string, most int) string {
	n := Number(c.Args, 0, 1)
	if n >= 1 && n <= most {
		return ""
	}
	return fmt.Sprintf("there is no %s %d", what, n)
}

// otherLayout says why switch-layout can't run.
func otherLayout(c Context) string {
	switch {
	case c.Layouts < 2:
		return "there is no other layout"
	case len(c.Args) > 0 && c.Args[0] == "last" && !c.LastLayout:
		return "no other layout was shown before"
	}
	return ""
}
