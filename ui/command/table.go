package command

import (
	"maps"
	"slices"
	"strings"

	"tandemux/ui/layout"
)

// need is reasons why a command can't run. The first that holds is shown.
type need []reason

// row is a command: its name, title, help, and what it needs besides the needs of its group.
type row struct {
	name, title, help string
	needs             need
}

// groups is the commands in the order of the help.
var groups = []struct {
	name  string
	needs need
	rows  []row
}{
	{"Panes", need{pane}, []row{
		{"split-right", "Split right", "Open a terminal, or a program, to the right of this pane.", need{connected, morePanes, roomRight}},
		{"split-down", "Split down", "Open a terminal, or a program, below this pane.", need{connected, morePanes, roomDown}},
		{"focus-left", "Focus left", "Go to the pane on the left.", need{left}},
		{"focus-down", "Focus down", "Go to the pane below.", need{down}},
		{"focus-up", "Focus up", "Go to the pane above.", need{up}},
		{"focus-right", "Focus right", "Go to the pane on the right.", need{right}},
		{"focus-next", "Focus the next pane", "Go to the next pane of this tab, and from the last one to the first.", need{several}},
		{"focus-last", "Focus the last pane", "Go back to the pane that was focused before this one.", need{lastPane}},
		{"focus-pane", "Focus a pane", "Go to the pane of this tab with this number; the first one is 1.", need{paneExists}},
		{"pane-numbers", "Pane numbers", "Show the numbers of this tab's panes; one typed goes there.", nil},
		{"resize-left", "Resize left", "Move this pane's border to the left.", need{beside}},
		{"resize-down", "Resize down", "Move this pane's border down.", need{stacked}},
		{"resize-up", "Resize up", "Move this pane's border up.", need{stacked}},
		{"resize-right", "Resize right", "Move this pane's border to the right.", need{beside}},
		{"zoom", "Zoom", "Show this pane alone, or all panes again.", need{several}},
		{"close-pane", "Close pane", "End this pane's terminal; asks when something runs in it.", need{connected}},
		{"rename-pane", "Rename pane", "Name this pane's terminal, for every verb; empty takes the name away.", need{connected}},
		{"swap-previous", "Swap with the previous pane", "Exchange this pane's place with the previous one's.", need{several}},
		{"swap-next", "Swap with the next pane", "Exchange this pane's place with the next one's.", need{several}},
		{"rotate", "Rotate panes", "Move each pane of this tab to the place before it, or after it.", need{several}},
		{"break-out", "Break out to a tab", "Move this pane to a new tab of its own.", need{several, moreTabs}},
		{"floating", "Floating panes", "Show the floating panes or hide them; the first time, open one.", need{connected, tab}},
		{"new-floating", "New floating pane", "Open a terminal, or a program, above the other panes.", need{connected, tab, morePanes}},
		{"popup", "Popup", "Run a program above the other panes and close with it.", need{connected, tab, morePanes}},
		{"float-pane", "Float or tile this pane", "Put this pane above the others, or back among them.", need{connected, several}},
		{"move-floating", "Move a floating pane", "Move this floating pane; the keys that resize panes resize it.", need{connected, floating}},
		{"mark-pane", "Mark this pane", "Mark this pane for joining or swapping, or take its mark away.", nil},
		{"join-pane", "Join the marked pane", "Move the marked pane beside this one, to the side given.", need{connected, marked}},
		{"swap-marked", "Swap with the marked pane", "Exchange this pane's place with the marked one's, of any tab.", need{connected, marked}},
		{"move-to-tab", "Move to another tab", "Move this pane to the tab with this number.", need{connected, tabs, tabGiven}},
		{"type-to-all", "Type into all panes", "Type into every pane of this tab that shows and is yours, or no more.", need{connected, several}},
		{"stack", "Stack panes", "Make a stack of this pane and those beside it: one of them is open.", need{several}},
		{"unstack", "Unstack panes", "Put the panes of this stack one above the other.", need{inStack}},
		{"new-stacked", "New pane in a stack", "Open a terminal, or a program, in one stack with this pane.", need{connected, morePanes}},
		{"even", "Even out", "Give all panes of this tab the same size, as far as that goes.", need{several}},
		{"next-layout", "Next arrangement", "Arrange this tab's panes in the next of the usual ways.", need{several}},
		{"arrange", "Arrange panes", "Put this tab's panes in a row, a column, around one, or in tiles.", need{several}},
	}},
	{"Tabs", nil, []row{
		{"new-tab", "New tab", "Open a terminal, or a program, in a tab of its own.", need{connected, moreTabs}},
		{"new-on", "New tab on another host", "Open a terminal on a host of tandemux hosts, or on this one: local.", need{connected, moreTabs}},
		{"next-tab", "Next tab", "Go to the next tab, and from the last one to the first.", need{tab, tabs}},
		{"previous-tab", "Previous tab", "Go to the previous tab, and from the first one to the last.", need{tab, tabs}},
		{"last-tab", "Last tab", "Go back to the tab that was active before this one.", need{tab, lastTab}},
		{"go-tab", "Go to a tab", "Go to the tab with this number; the first one is 1.", need{tab, tabExists}},
		{"move-tab", "Move tab", "Give this tab another number; the others make room.", need{tab, tabs, tabGiven}},
		{"move-tab-left", "Move tab left", "Swap this tab with the one before it; the first one becomes the last.", need{tab, tabs}},
		{"move-tab-right", "Move tab right", "Swap this tab with the one after it; the last one becomes the first.", need{tab, tabs}},
		{"rename-tab", "Rename tab", "Give this tab a name; an empty one takes it away.", need{connected, tab}},
		{"close-tab", "Close tab", "End all terminals of this tab; asks when something runs in them.", need{connected, tab}},
	}},
	{"Layouts", nil, []row{
		{"layouts", "Layouts", "Show the layouts: open, make, rename, delete; or open the one named.", need{connected}},
		{"switch-layout", "Switch layouts", "Go to the next layout, the one before, or the one shown last.", need{connected, otherLayout}},
		{"rename-layout", "Rename layout", "Give this layout another name.", need{connected, tab}},
	}},
	{"Terminals", nil, []row{
		{"terminals", "All terminals", "Show every terminal of the host, also those in no pane.", need{connected}},
		{"history", "History of all terminals", "Show what ran in any terminal: type it at the prompt, run it, copy it.", need{connected}},
		{"search-all", "Search all terminals", "Find lines in all terminals, and go to one in copy mode.", need{connected}},
		{"next-alert", "Go to the next alert", "Go to what has something to tell, first to what waits for you.", need{alerted}},
		{"answer-agent", "Answer an agent", "Answer what an agent waits for, wherever it is.", need{connected, asked}},
		{"reclaim", "Reclaim", "Take this terminal from an agent, the background or another client.", need{connected, pane, terminal, notMine, running}},
		{"background", "Send to the background", "Let this run on: the agent goes on, or your pane leaves the screen.", need{connected, pane, terminal, running}},
		{"hand-back", "Hand back", "Return this terminal to the session that you took it from.", need{connected, pane, terminal, mine, handBack, running}},
		{"end-share", "End sharing", "Close the pages of the guests who look at this terminal, at once.", need{connected, pane, terminal, shared}},
		{"record", "Record, or end the recording", "Write what this terminal shows from now on to a file, or end that.", need{connected, pane}},
		{"send-prefix", "Send the prefix key", "Type the prefix key itself into this pane.", need{connected, pane, mine, running}},
	}},
	{"Agents", need{connected}, []row{
		{"agents", "Agents", "Show the sessions with agents: open, begin, rename, archive, end.", nil},
		{"new-session", "New session", "Begin a session with an agent in this pane's directory.", nil},
		{"review", "Review changes", "Show what the agent of this pane changed: comment on lines, merge.", nil},
		{"open-chat", "From a terminal to its chat", "Go from a terminal to its chat, or from a chat to its terminal.", need{linked}},
	}},
	{"Chats", need{chat}, []row{
		{"chat-send", "Send the message", "Send the message, or queue it while a turn runs; take what is chosen.", nil},
		{"chat-newline", "New line", "Begin another line of the message.", nil},
		{"chat-steer", "Send into the turn", "Tell the agent now, in the turn that runs, instead of after it.", nil},
		{"chat-escape", "Close, or cancel the turn", "Close what is open; twice cancel the turn that runs.", nil},
		{"chat-cancel", "Clear, or cancel the turn", "Clear the prompt; when it is empty cancel the turn that runs.", nil},
		{"chat-tab", "Complete, or go on", "Complete the word, or go on: to the next field, question, transcript.", nil},
		{"chat-mode", "Next mode", "Take the next of the agent's modes; in a form go back a field.", nil},
		{"chat-up", "Up in the prompt", "Move up in the prompt; above it, take an older message of yours.", nil},
		{"chat-down", "Down in the prompt", "Move down in the prompt; below it, take a newer message of yours.", nil},
		{"chat-unqueue", "Take back a queued message", "Take the message that was queued last back into the prompt.", nil},
		{"chat-edit", "Edit in an editor", "Write the message in your editor, in a pane of its own.", nil},
		{"chat-plan", "Show the plan", "Show every step of the agent's plan, or one line of it.", nil},
		{"chat-options", "Options", "Choose the agent's mode, model, options, and when tools ask first.", nil},
		{"chat-model", "Choose a model", "Choose the agent's model.", nil},
		{"chat-prompt", "Back to the prompt", "Give the keys to the prompt.", nil},
		{"chat-next", "Next part", "Go to the next message, answer, block of code or tool call.", nil},
		{"chat-previous", "Previous part", "Go to the previous message, answer, block of code or tool call.", nil},
		{"chat-fold", "Fold or unfold", "Fold or unfold the reasoning or tool call that the cursor is on.", nil},
		{"chat-code", "Copy the last code", "Copy the last block of code.", nil},
		{"chat-terminal", "Open the terminal", "Show the terminal of this tool call, or of the last one, in a pane.", nil},
		{"chat-fork", "Fork", "Begin another chat with what was said up to here, where the agent can.", nil},
		{"chat-rewind", "Rewind", "Forget this message and all after it, and edit it again.", nil},
		{"chat-retry", "Try again", "Go on with the turn that failed, or send its message again.", nil},
		{"chat-login", "Log in", "Log in to the agent that asks for it.", nil},
	}},
	{"Commands", need{pane, detects, ran}, []row{
		{"previous-command", "Previous command", "Go to the command before; the keys of commands then act on it.", need{mainText, previous}},
		{"next-command", "Next command", "Go to the command after; the keys of commands then act on it.", need{mainText, next}},
		{"commands", "All commands", "Show this terminal's commands: go to one, copy it, run it again.", nil},
		{"copy-output", "Copy a command's output", "Copy the output of the command you went to; in a chat, the answer.", need{mainText}},
		{"copy-command-line", "Copy a command's line", "Copy the line of the command that you went to, else of the last.", need{mainText}},
		{"select-output", "Select a command's output", "Enter copy mode with the output of that command selected.", need{mainText}},
		{"fold-output", "Fold a command's output", "Hide the output of that command, or show it; in a chat, all details.", need{mainText}},
		{"fold-all", "Fold all output", "Leave out the output of all commands of this pane that have ended.", need{mainText}},
		{"unfold-all", "Unfold all output", "Show all output of this pane again.", need{mainText}},
		{"run-again", "Run a command again", "Type the line of that command at an empty prompt and run it.", need{connected, mine, running, mainText}},
	}},
	{"Scrolling", nil, []row{
		{"copy-mode", "Copy mode", "Move through what has scrolled away, select and copy it.", need{pane}},
		{"hints", "Hints", "Label paths, addresses, numbers that show: copy, insert or open one.", need{pane}},
		{"scroll-up", "Scroll up", "Scroll this pane back by lines.", need{pane, older}},
		{"scroll-down", "Scroll down", "Scroll this pane forward by lines.", need{pane, newer}},
		{"scroll-half-up", "Scroll half a page up", "Scroll this pane back by half of its height.", need{pane, older}},
		{"scroll-half-down", "Scroll half a page down", "Scroll this pane forward by half of its height.", need{pane, newer}},
		{"scroll-page-up", "Scroll a page up", "Scroll this pane back by its height.", need{pane, older}},
		{"scroll-page-down", "Scroll a page down", "Scroll this pane forward by its height.", need{pane, newer}},
		{"scroll-top", "Scroll to the top", "Show the oldest lines that are kept.", need{pane, older}},
		{"scroll-bottom", "Scroll to the bottom", "Show what the program shows now.", need{pane, newer}},
		{"paste-buffer", "Paste", "Paste what was copied last into this pane.", need{connected, pane, mine, running, buffered}},
		{"choose-buffer", "Paste buffers", "Show what was copied lately: pick, paste, copy again, delete, save.", need{buffered}},
		{"delete-buffer", "Forget the last copy", "Delete the paste buffer that was copied last.", need{buffered}},
		{"save-buffer", "Save the last copy to a file", "Write what was copied last to a new file that only you can read.", need{buffered}},
		{"edit-scrollback", "Edit the scrollback", "Open all of this pane's text in $VISUAL or $EDITOR, in a new pane.", need{connected, pane, morePanes}},
		{"save-scrollback", "Save the scrollback to a file", "Write all of this pane's text to a new file that only you can read.", need{pane}},
	}},
	{"Copy mode", need{pane}, []row{
		{"copy-left", "Left", "Go to the left.", need{copying}},
		{"copy-right", "Right", "Go to the right.", need{copying}},
		{"copy-line-start", "Start of the line", "Go to the start of the line.", need{copying}},
		{"copy-line-text", "First text of the line", "Go to the first character of the line that is no blank.", need{copying}},
		{"copy-line-end", "End of the line", "Go to the end of the line.", need{copying}},
		{"copy-word-next", "Next word", "Go to the start of the next word.", need{copying}},
		{"copy-word-back", "Word before", "Go to the start of the word before.", need{copying}},
		{"copy-word-end", "End of the word", "Go to the end of the word.", need{copying}},
		{"copy-big-word-next", "Next big word", "Go to the start of the next word between blanks.", need{copying}},
		{"copy-big-word-back", "Big word before", "Go to the start of the word between blanks before.", need{copying}},
		{"copy-big-word-end", "End of the big word", "Go to the end of the word between blanks.", need{copying}},
		{"copy-find", "To a character", "Go to the next such character of the line.", need{copying}},
		{"copy-find-back", "Back to a character", "Go to the last such character before, on the line.", need{copying}},
		{"copy-till", "Up to a character", "Go before the next such character of the line.", need{copying}},
		{"copy-till-back", "Back up to a character", "Go behind the last such character before, on the line.", need{copying}},
		{"copy-find-again", "To the character again", "Repeat the last move to a character.", need{copying}},
		{"copy-find-reverse", "Back to the character again", "Repeat the last move to a character in the other direction.", need{copying}},
		{"copy-bracket", "Matching bracket", "Go to the bracket that belongs to the one here.", need{copying}},
		{"copy-paragraph-next", "Next paragraph", "Go to the next paragraph.", need{copying}},
		{"copy-paragraph-back", "Paragraph before", "Go to the paragraph before.", need{copying}},
		{"copy-screen-top", "Top of the pane", "Go to the top line of the pane.", need{copying}},
		{"copy-screen-middle", "Middle of the pane", "Go to the middle line of the pane.", need{copying}},
		{"copy-screen-bottom", "Bottom of the pane", "Go to the bottom line of the pane.", need{copying}},
		{"copy-view-up", "View up", "Scroll back by a line; the cursor stays on its line.", need{copying}},
		{"copy-view-down", "View down", "Scroll forward by a line; the cursor stays on its line.", need{copying}},
		{"copy-view-top", "Line to the top", "Scroll so that the line of copy mode's cursor is at the top.", need{copying}},
		{"copy-view-middle", "Line to the middle", "Scroll so that the line of copy mode's cursor is in the middle.", need{copying}},
		{"copy-view-bottom", "Line to the bottom", "Scroll so that the line of copy mode's cursor is at the bottom.", need{copying}},
		{"copy-go-line", "Go to a line", "Go to the line with this number, 1 being the oldest; else to the last.", need{copying}},
		{"copy-count", "Count", "Do the next command so many times; 0 alone goes to the line's start.", need{copying}},
		{"copy-set-mark", "Set a mark", "Remember the place of copy mode's cursor under a letter.", need{copying}},
		{"copy-go-mark", "Go to a mark", "Go to the place of a letter; ' is the one before the last jump.", need{copying}},
		{"copy-select", "Select", "Start a selection at the cursor, or end it.", need{copying}},
		{"copy-select-lines", "Select lines", "Start a selection of whole lines at the cursor, or end it.", need{copying}},
		{"copy-select-block", "Select a block", "Start a rectangular selection at the cursor, or end it.", need{copying}},
		{"copy-other-end", "Other end", "Go to the other end of the selection.", need{copying}},
		{"copy-select-clear", "Select nothing", "Take the selection away and stay in copy mode.", need{copying}},
		{"copy-selection", "Copy what is selected", "Copy what is selected, or copy mode's line, or a chat's part; stay.", need{selected}},
		{"copy-open-link", "Open the link", "Open the link at the cursor, or the last that shows; as a ctrl click.", nil},
		{"copy-link", "Copy the link", "Copy the link at the cursor, or the last; as a ctrl+alt click.", nil},
		{"copy-yank", "Copy and leave", "Copy what is selected, if anything is, and leave copy mode.", need{copying}},
		{"search", "Search", "Search on for a regular expression, as you type.", nil},
		{"search-back", "Search back", "Search back for a regular expression, as you type.", nil},
		{"search-next", "Next match", "Go to the next match of the search, in its direction.", nil},
		{"search-previous", "Previous match", "Go to the next match of the search, against its direction.", nil},
		{"search-word", "Search the word here", "Look for the word at the cursor of copy mode, towards the newest line.", need{copying}},
		{"search-word-back", "Search the word here back", "Look for the word at the cursor of copy mode, towards the oldest line.", need{copying}},
		{"copy-escape", "Back", "Take the selection away, or leave copy mode where nothing is selected.", need{copying}},
		{"copy-exit", "Leave copy mode", "Leave copy mode and return to what the program shows now.", need{copying}},
	}},
	{"tandemux", nil, []row{
		{"detach", "Detach", "Leave tandemux; everything runs on.", nil},
		{"palette", "Command palette", "Find a command by its name and run it.", nil},
		{"menu", "Menu", "Open what the right button offers, for this pane, tab or all.", need{pane}},
		{"messages", "Messages", "Show what the status line said, the newest first.", nil},
		{"pane-info", "About this pane", "Say which pane this is: layout, tab, number, size, directory.", need{pane}},
		{"help", "Help", "Show all keys and what they do.", nil},
		{"suspend", "Suspend", "Stop tandemux and go back to its shell; fg there goes on.", nil},
		{"redraw", "Redraw", "Draw the whole screen again.", nil},
		{"choose-theme", "Choose a theme", "Show the themes and keep one; or try the one named.", nil},
		{"reload-config", "Reload configuration", "Read the configuration again; after a mistake the old one stays.", nil},
		{"stop", "Stop the host", "End every terminal and the host itself; asks first.", need{connected}},
	}},
}

// Arguments of several commands.
var (
	cells     = Arg{Name: "cells", Kind: Int, Optional: true, Min: 1, Max: 1000}
	lines     = Arg{Name: "lines", Kind: Int, Optional: true, Min: 1, Max: 1000}
	digit     = Arg{Name: "digit", Kind: Int, Max: 9}
	character = Arg{Name: "character", Optional: true}
	file      = Arg{Name: "file", Optional: true}
	program   = []Arg{{Name: "program", Kind: Program, Optional: true}}
	name      = Arg{Name: "name", Optional: true}
	sides     = []string{"left", "down", "up", "right"}
)

// arguments is the arguments of commands, and their titles with the first argument for %.
var arguments = map[string]struct {
	title string
	args  []Arg
}{
	"split-right":  {"", program},
	"split-down":   {"", program},
	"new-floating": {"", program},
	"popup":        {"", program},
	"new-stacked":  {"", program},
	"new-tab":      {"", program},

	"resize-left":   {"Resize left by %", []Arg{cells}},
	"resize-down":   {"Resize down by %", []Arg{cells}},
	"resize-up":     {"Resize up by %", []Arg{cells}},
	"resize-right":  {"Resize right by %", []Arg{cells}},
	"rename-pane":   {`Rename pane to "%"`, []Arg{name}},
	"focus-pane":    {"Focus pane %", []Arg{{Name: "number", Kind: Int, Min: 1, Max: layout.MaxPanes}}},
	"rotate":        {"Rotate panes %", []Arg{{Name: "way", Kind: Choice, Choices: []string{"up", "down"}}}},
	"move-floating": {"Float %", []Arg{{Name: "side", Kind: Choice, Choices: sides}, cells}},
	"join-pane":     {"Join the marked pane, %", []Arg{{Name: "side", Kind: Choice, Optional: true, Choices: sides}}},
	"move-to-tab":   {"Move to tab %", []Arg{{Name: "number", Kind: Int, Optional: true, Min: 1, Max: layout.MaxTabs}}},
	"arrange":       {"Arrange panes", []Arg{{Name: "arrangement", Kind: Choice, Choices: arrangements}}},

	"go-tab":        {"Go to tab %", []Arg{{Name: "number", Kind: Int, Optional: true, Min: 1, Max: layout.MaxTabs}}},
	"move-tab":      {"Make this tab number %", []Arg{{Name: "number", Kind: Int, Optional: true, Min: 1, Max: layout.MaxTabs}}},
	"new-on":        {"New tab on %", []Arg{{Name: "host", Optional: true}}},
	"rename-tab":    {`Rename tab to "%"`, []Arg{name}},
	"layouts":       {"Go to layout %", []Arg{name}},
	"switch-layout": {"Switch to the % layout", []Arg{{Name: "which", Kind: Choice, Choices: []string{"next", "previous", "last"}}}},
	"rename-layout": {`Rename layout to "%"`, []Arg{name}},

	"search":          {"Search for %", []Arg{{Name: "text", Optional: true}}},
	"search-back":     {"Search back for %", []Arg{{Name: "text", Optional: true}}},
	"search-all":      {"Search all terminals for %", []Arg{{Name: "text", Optional: true}}},
	"record":          {"Record to %", []Arg{file}},
	"save-buffer":     {"Save the last copy to %", []Arg{file}},
	"save-scrollback": {"Save the scrollback to %", []Arg{file}},
	"new-session":     {"New session with %", []Arg{{Name: "agent", Optional: true}}},
	"menu":            {"Menu of this %", []Arg{{Name: "of", Kind: Choice, Choices: []string{"pane", "tab", "line"}}}},
	"choose-theme":    {`Change to theme "%"`, []Arg{{Name: "theme", Optional: true}}},

	"hints":          {"Hints, to %", []Arg{{Name: "act", Kind: Choice, Optional: true, Choices: []string{"copy", "insert", "open"}}}},
	"scroll-up":      {"Scroll up by %", []Arg{lines}},
	"scroll-down":    {"Scroll down by %", []Arg{lines}},
	"copy-find":      {"To the character %", []Arg{character}},
	"copy-find-back": {"Back to the character %", []Arg{character}},
	"copy-till":      {"Up to the character %", []Arg{character}},
	"copy-till-back": {"Back up to the character %", []Arg{character}},
	"copy-set-mark":  {"Set the mark %", []Arg{character}},
	"copy-go-mark":   {"Go to the mark %", []Arg{character}},
	"copy-go-line":   {"Go to line %", []Arg{{Name: "number", Kind: Int, Optional: true, Min: 1, Max: 1 << 30}}},
	"copy-count":     {"How often to do the next command", []Arg{digit}},
}

// arrangements is layout's presets, by their names in tmux's select-layout.
var arrangements = []string{"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled", "stacked"}

// worded is titles of commands with an argument that arguments doesn't fit.
var worded = map[string]string{
	"arrange even-horizontal": "Panes side by side",
	"arrange even-vertical":   "Panes one above the other",
	"arrange main-horizontal": "Main pane on top",
	"arrange main-vertical":   "Main pane on the left",
	"arrange tiled":           "Panes tiled",
	"arrange stacked":         "Panes stacked",
	"menu line":               "Menu of the status line",
	"copy-count 0":            "Start of the line, or 0",
}

// table has the commands in the order of the help, index each command's index.
var table, index = func() (table []Command, index map[string]int) {
	index = map[string]int{}
	for _, g := range groups {
		for _, r := range g.rows {
			index[r.name] = len(table)
			table = append(table, Command{Name: r.name, Title: r.title, Group: g.name, Help: r.help, Args: arguments[r.name].args, needs: [2]need{g.needs, r.needs}})
		}
	}
	for _, their := range slices.Sorted(maps.Keys(theirs)) {
		for _, ours := range strings.FieldsFunc(theirs[their], func(r rune) bool { return r == ' ' || r == ',' }) {
			if i, ok := index[ours]; ok {
				table[i].Tmux = append(table[i].Tmux, their)
			}
		}
	}
	return table, index
}()
