package command

import (
	"fmt"
	"slices"
)

// Groups, in the order of the help.
const (
	groupPanes     = "Panes"
	groupTabs      = "Tabs"
	groupLayouts   = "Layouts"
	groupTerminals = "Terminals"
	groupAgents    = "Agents"
	groupChats     = "Chats"
	groupScrolling = "Scrolling"
	groupCommands  = "Commands"
	groupCopying   = "Copy mode"
	groupTandemux  = "tandemux"
)

// Arguments that several commands take.
var (
	cells = []Arg{{Name: "cells", Kind: Int, Optional: true, Min: 1, Max: 1000}}
	lines = []Arg{{Name: "lines", Kind: Int, Optional: true, Min: 1, Max: 1000}}
	sides = []string{"left", "down", "up", "right"}
	name  = []Arg{{Name: "name", Kind: Text, Optional: true}}
)

// choice is a value of a Choice argument, and what the command is called with
// it.
type choice struct{ name, title string }

// arrangements are the choices of "arrange": layout's presets, in the words of
// tmux's select-layout, and what a person calls them.
var arrangements = []choice{
	{"even-horizontal", "Panes side by side"},
	{"even-vertical", "Panes one above the other"},
	{"main-horizontal", "Main pane on top"},
	{"main-vertical", "Main pane on the left"},
	{"tiled", "Panes tiled"},
}

// table has the rows in the order of the help.
var table = slices.Concat(arrangeRows, agentRows, shellRows, copyRows, tandemuxRows)

// arrangeRows are about panes, tabs and terminals.
var arrangeRows = []Command{
	{
		Name: "split-right", Title: "Split right", Group: groupPanes,
		Help:     "Open a new terminal to the right of this pane.",
		Disabled: all(connected, pane, morePanes, roomRight),
	},
	{
		Name: "split-down", Title: "Split down", Group: groupPanes,
		Help:     "Open a new terminal below this pane.",
		Disabled: all(connected, pane, morePanes, roomDown),
	},
	{
		Name: "focus-left", Title: "Focus left", Group: groupPanes,
		Help:     "Go to the pane on the left.",
		Disabled: all(pane, left),
	},
	{
		Name: "focus-down", Title: "Focus down", Group: groupPanes,
		Help:     "Go to the pane below.",
		Disabled: all(pane, down),
	},
	{
		Name: "focus-up", Title: "Focus up", Group: groupPanes,
		Help:     "Go to the pane above.",
		Disabled: all(pane, up),
	},
	{
		Name: "focus-right", Title: "Focus right", Group: groupPanes,
		Help:     "Go to the pane on the right.",
		Disabled: all(pane, right),
	},
	{
		Name: "focus-next", Title: "Focus the next pane", Group: groupPanes,
		Help:     "Go to the next pane of this tab, and from the last one to the first.",
		Disabled: all(pane, several),
	},
	{
		Name: "focus-last", Title: "Focus the last pane", Group: groupPanes,
		Help:     "Go back to the pane that was focused before this one.",
		Disabled: all(pane, lastPane),
	},
	{
		Name: "resize-left", Title: "Resize left", Group: groupPanes, Args: cells,
		Help:     "Move this pane's border to the left.",
		Disabled: all(pane, beside),
		describe: func(args []string) string { return "Resize left by " + args[0] },
	},
	{
		Name: "resize-down", Title: "Resize down", Group: groupPanes, Args: cells,
		Help:     "Move this pane's border down.",
		Disabled: all(pane, stacked),
		describe: func(args []string) string { return "Resize down by " + args[0] },
	},
	{
		Name: "resize-up", Title: "Resize up", Group: groupPanes, Args: cells,
		Help:     "Move this pane's border up.",
		Disabled: all(pane, stacked),
		describe: func(args []string) string { return "Resize up by " + args[0] },
	},
	{
		Name: "resize-right", Title: "Resize right", Group: groupPanes, Args: cells,
		Help:     "Move this pane's border to the right.",
		Disabled: all(pane, beside),
		describe: func(args []string) string { return "Resize right by " + args[0] },
	},
	{
		Name: "zoom", Title: "Zoom", Group: groupPanes,
		Help:     "Show this pane alone, or all panes again.",
		Disabled: all(pane, several),
	},
	{
		Name: "close-pane", Title: "Close pane", Group: groupPanes,
		Help:     "End this pane's terminal and take the pane out; asks when something runs in it.",
		Disabled: all(connected, pane),
	},
	{
		Name: "rename-pane", Title: "Rename pane", Group: groupPanes, Args: name,
		Help:     "Name this pane's terminal: the name stands in place of the title, and commands find the terminal by it. An empty one takes it away.",
		Disabled: all(connected, pane),
		describe: func(args []string) string { return fmt.Sprintf("Rename pane to %q", args[0]) },
	},
	{
		Name: "swap-previous", Title: "Swap with the previous pane", Group: groupPanes,
		Help:     "Exchange this pane's place with the previous one's.",
		Disabled: all(pane, several),
	},
	{
		Name: "swap-next", Title: "Swap with the next pane", Group: groupPanes,
		Help:     "Exchange this pane's place with the next one's.",
		Disabled: all(pane, several),
	},
	{
		Name: "break-out", Title: "Break out to a tab", Group: groupPanes,
		Help:     "Move this pane to a new tab of its own.",
		Disabled: all(pane, several, moreTabs),
	},
	{
		Name: "floating", Title: "Floating panes", Group: groupPanes,
		Help:     "Show the panes above the others and go to the top one, or hide them; the first time, open one.",
		Disabled: all(connected, tab),
	},
	{
		Name: "new-floating", Title: "New floating pane", Group: groupPanes,
		Help:     "Open a new terminal above the other panes.",
		Disabled: all(connected, tab, morePanes),
	},
	{
		Name: "float-pane", Title: "Float or tile this pane", Group: groupPanes,
		Help:     "Take this pane out and put it above the others, or put a floating one among them.",
		Disabled: all(connected, pane, several),
	},
	{
		Name: "move-floating", Title: "Move a floating pane", Group: groupPanes,
		Args: []Arg{
			{Name: "side", Kind: Choice, Choices: sides},
			{Name: "cells", Kind: Int, Optional: true, Min: 1, Max: 1000},
		},
		Help:     "Move this floating pane; the keys that resize a pane make it smaller and larger.",
		Disabled: all(connected, pane, floating),
		describe: func(args []string) string { return "Float " + args[0] },
	},
	{
		Name: "mark-pane", Title: "Mark this pane", Group: groupPanes,
		Help:     "Mark this pane for joining or swapping, or take its mark away.",
		Disabled: all(pane),
	},
	{
		Name: "join-pane", Title: "Join the marked pane", Group: groupPanes,
		Args:     []Arg{{Name: "side", Kind: Choice, Optional: true, Choices: sides}},
		Help:     "Move the marked pane, of any tab, beside this one: to the side given, or where there is room.",
		Disabled: all(connected, pane, marked),
		describe: func(args []string) string { return "Join the marked pane, " + args[0] },
	},
	{
		Name: "swap-marked", Title: "Swap with the marked pane", Group: groupPanes,
		Help:     "Exchange this pane's place with the marked one's, of any tab.",
		Disabled: all(connected, pane, marked),
	},
	{
		Name: "move-to-tab", Title: "Move to another tab", Group: groupPanes,
		Args:     []Arg{{Name: "number", Kind: Int, Optional: true, Min: 1, Max: 64}},
		Help:     "Move this pane to the tab with this number, beside the pane that is focused there.",
		Disabled: all(connected, pane, tabs, tabGiven),
		describe: func(args []string) string { return "Move to tab " + args[0] },
	},
	{
		Name: "type-to-all", Title: "Type into all panes", Group: groupPanes,
		Help:     "Send what is typed and pasted to every pane of this tab that shows and is yours, until called again.",
		Disabled: all(connected, pane, several),
	},
	{
		Name: "even", Title: "Even out", Group: groupPanes,
		Help:     "Give all panes of this tab the same size, as far as their arrangement allows.",
		Disabled: all(pane, several),
	},
	{
		Name: "next-layout", Title: "Next arrangement", Group: groupPanes,
		Help:     "Arrange this tab's panes in the next of the usual ways.",
		Disabled: all(pane, several),
	},
	{
		Name: "arrange", Title: "Arrange panes", Group: groupPanes, Args: choose("arrangement", arrangements),
		Help:     "Arrange this tab's panes side by side, one above the other, around a main pane, or tiled.",
		Disabled: all(pane, several),
		describe: describeChoice("Arrange panes", arrangements),
	},

	{
		Name: "new-tab", Title: "New tab", Group: groupTabs,
		Help:     "Open a new terminal in a tab of its own.",
		Disabled: all(connected, moreTabs),
	},
	{
		Name: "next-tab", Title: "Next tab", Group: groupTabs,
		Help:     "Go to the next tab, and from the last one to the first.",
		Disabled: all(tab, tabs),
	},
	{
		Name: "previous-tab", Title: "Previous tab", Group: groupTabs,
		Help:     "Go to the previous tab, and from the first one to the last.",
		Disabled: all(tab, tabs),
	},
	{
		Name: "last-tab", Title: "Last tab", Group: groupTabs,
		Help:     "Go back to the tab that was active before this one.",
		Disabled: all(tab, lastTab),
	},
	{
		Name: "go-tab", Title: "Go to a tab", Group: groupTabs,
		Args:     []Arg{{Name: "number", Kind: Int, Min: 1, Max: 64}},
		Help:     "Go to the tab with this number; the first one is 1.",
		Disabled: all(tab, tabExists),
		describe: func(args []string) string { return "Go to tab " + args[0] },
	},
	{
		Name: "rename-tab", Title: "Rename tab", Group: groupTabs, Args: name,
		Help:     "Give this tab a name; an empty one takes it away.",
		Disabled: all(connected, tab),
		describe: func(args []string) string { return fmt.Sprintf("Rename tab to %q", args[0]) },
	},
	{
		Name: "close-tab", Title: "Close tab", Group: groupTabs,
		Help:     "End all terminals of this tab and take it out; asks when something runs in them.",
		Disabled: all(connected, tab),
	},

	{
		Name: "layouts", Title: "Layouts", Group: groupLayouts, Args: name,
		Help:     "Show the layouts: go to one, make a new one, rename, delete; or go to the one named.",
		Disabled: all(connected),
		describe: func(args []string) string { return "Go to layout " + args[0] },
	},
	{
		Name: "rename-layout", Title: "Rename layout", Group: groupLayouts, Args: name,
		Help:     "Give this layout another name.",
		Disabled: all(connected, tab),
		describe: func(args []string) string { return fmt.Sprintf("Rename layout to %q", args[0]) },
	},

	{
		Name: "terminals", Title: "All terminals", Group: groupTerminals,
		Help:     "Show every terminal of the host, also those in no pane: pick, take, kill.",
		Disabled: all(connected),
	},
	{
		Name: "next-alert", Title: "Go to the next alert", Group: groupTerminals,
		Help:     "Go to the terminal that has something to tell: one that waits for you first, then failures, notifications and bells.",
		Disabled: all(alerted),
	},
	{
		Name: "answer-agent", Title: "Answer an agent", Group: groupTerminals,
		Help:     "Answer what an agent waits for, wherever it is: allow or reject its tool call, hand a terminal over or refuse.",
		Disabled: all(connected, asked),
	},
	{
		Name: "reclaim", Title: "Reclaim", Group: groupTerminals,
		Help:     "Take this terminal, from an agent, from the background or from another client.",
		Disabled: all(connected, pane, terminal, notMine, running),
	},
	{
		Name: "background", Title: "Send to the background", Group: groupTerminals,
		Help:     "Let an agent move on while its command runs; a terminal of your own leaves the screen and runs on.",
		Disabled: all(connected, pane, terminal, running),
	},
	{
		Name: "hand-back", Title: "Hand back", Group: groupTerminals,
		Help:     "Return this terminal to the session that you took it from.",
		Disabled: all(connected, pane, terminal, mine, handBack, running),
	},
	{
		Name: "record", Title: "Record, or end the recording", Group: groupTerminals, Args: file,
		Help:     "Write what this terminal shows from now on to a new file for tandemux play and asciinema, or end that; asks for the file's name without one.",
		Disabled: all(connected, pane),
	},
	{
		Name: "send-prefix", Title: "Send the prefix key", Group: groupTerminals,
		Help:     "Type the prefix key itself into this pane.",
		Disabled: all(connected, pane, mine, running),
	},
}

// tandemuxRows are about the program itself.
var tandemuxRows = []Command{
	{
		Name: "detach", Title: "Detach", Group: groupTandemux,
		Help:     "Leave tandemux; everything runs on, and the next tandemux shows it again.",
		Disabled: always,
	},
	{
		Name: "palette", Title: "Command palette", Group: groupTandemux,
		Help:     "Find a command by its name and run it.",
		Disabled: always,
	},
	{
		Name: "help", Title: "Help", Group: groupTandemux,
		Help:     "Show all keys and what they do.",
		Disabled: always,
	},
	{
		Name: "suspend", Title: "Suspend", Group: groupTandemux,
		Help:     "Stop tandemux and go back to the shell that it was started from; fg there goes on.",
		Disabled: always,
	},
	{
		Name: "redraw", Title: "Redraw", Group: groupTandemux,
		Help:     "Draw the whole screen again.",
		Disabled: always,
	},
	{
		Name: "choose-theme", Title: "Choose a theme", Group: groupTandemux, Args: []Arg{{Name: "theme", Kind: Text, Optional: true}},
		Help:     "Show the themes, each at once as you come to it; enter keeps one in the configuration. Or change to the one named, for now.",
		Disabled: always,
		describe: func(args []string) string { return fmt.Sprintf("Change to theme %q", args[0]) },
	},
	{
		Name: "reload-config", Title: "Reload configuration", Group: groupTandemux,
		Help:     "Read the configuration file again; with a mistake in it the old one stays.",
		Disabled: always,
	},
	{
		Name: "stop", Title: "Stop the host", Group: groupTandemux,
		Help:     "End every terminal and the host itself; asks first.",
		Disabled: all(connected),
	},
}

var index = func() map[string]int {
	m := make(map[string]int, len(table))
	for i, c := range table {
		m[c.Name] = i
	}
	return m
}()

// choose makes the one argument of a command that takes a choice.
func choose(name string, from []choice) []Arg {
	a := Arg{Name: name, Kind: Choice}
	for _, c := range from {
		a.Choices = append(a.Choices, c.name)
	}
	return []Arg{a}
}

// describeChoice words a command by its choice.
func describeChoice(otherwise string, from []choice) func([]string) string {
	return func(args []string) string {
		for _, c := range from {
			if c.name == args[0] {
				return c.title
			}
		}
		return otherwise
	}
}
