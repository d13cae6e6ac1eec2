package command

// Arguments of these commands.
var (
	character = []Arg{{Name: "character", Kind: Text, Optional: true}}
	file      = []Arg{{Name: "file", Kind: Text, Optional: true}}
)

// copyRows are about scrolling, searching and copying.
var copyRows = []Command{
	{
		Name: "copy-mode", Title: "Copy mode", Group: groupScrolling,
		Help:     "Enter copy mode, in which keys move through what has scrolled away, select and copy it.",
		Disabled: all(pane),
	},
	{
		Name: "scroll-up", Title: "Scroll up", Group: groupScrolling, Args: lines,
		Help:     "Scroll this pane back by lines.",
		Disabled: all(pane, older),
		describe: func(args []string) string { return "Scroll up by " + args[0] },
	},
	{
		Name: "scroll-down", Title: "Scroll down", Group: groupScrolling, Args: lines,
		Help:     "Scroll this pane forward by lines.",
		Disabled: all(pane, newer),
		describe: func(args []string) string { return "Scroll down by " + args[0] },
	},
	{
		Name: "scroll-half-up", Title: "Scroll half a page up", Group: groupScrolling,
		Help:     "Scroll this pane back by half of its height.",
		Disabled: all(pane, older),
	},
	{
		Name: "scroll-half-down", Title: "Scroll half a page down", Group: groupScrolling,
		Help:     "Scroll this pane forward by half of its height.",
		Disabled: all(pane, newer),
	},
	{
		Name: "scroll-page-up", Title: "Scroll a page up", Group: groupScrolling,
		Help:     "Scroll this pane back by its height.",
		Disabled: all(pane, older),
	},
	{
		Name: "scroll-page-down", Title: "Scroll a page down", Group: groupScrolling,
		Help:     "Scroll this pane forward by its height.",
		Disabled: all(pane, newer),
	},
	{
		Name: "scroll-top", Title: "Scroll to the top", Group: groupScrolling,
		Help:     "Show the oldest lines that are kept.",
		Disabled: all(pane, older),
	},
	{
		Name: "scroll-bottom", Title: "Scroll to the bottom", Group: groupScrolling,
		Help:     "Show what the program shows now.",
		Disabled: all(pane, newer),
	},
	{
		Name: "paste-buffer", Title: "Paste", Group: groupScrolling,
		Help:     "Type what was copied last into this pane, as a paste of the terminal would.",
		Disabled: all(connected, pane, mine, running, buffered),
	},
	{
		Name: "choose-buffer", Title: "Paste buffers", Group: groupScrolling,
		Help:     "Show what was copied lately: pick, paste, copy again, delete, save.",
		Disabled: all(buffered),
	},
	{
		Name: "delete-buffer", Title: "Forget the last copy", Group: groupScrolling,
		Help:     "Delete the paste buffer that was copied last.",
		Disabled: all(buffered),
	},
	{
		Name: "save-buffer", Title: "Save the last copy to a file", Group: groupScrolling, Args: file,
		Help:     "Write what was copied last to a new file that only you can read; asks for its name without one.",
		Disabled: all(buffered),
	},
	{
		Name: "edit-scrollback", Title: "Edit the scrollback", Group: groupScrolling,
		Help:     "Open all of this pane's text in your editor ($VISUAL, $EDITOR), in a pane of its own.",
		Disabled: all(connected, pane, morePanes),
	},
	{
		Name: "save-scrollback", Title: "Save the scrollback to a file", Group: groupScrolling, Args: file,
		Help:     "Write all of this pane's text to a new file that only you can read; asks for its name without one.",
		Disabled: all(pane),
	},

	{
		Name: "copy-left", Title: "Left", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the left.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-right", Title: "Right", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the right.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-line-start", Title: "Start of the line", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the start of the line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-line-text", Title: "First text of the line", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the first character of the line that is no blank.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-line-end", Title: "End of the line", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the end of the line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-word-next", Title: "Next word", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the start of the next word.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-word-back", Title: "Word before", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the start of the word before.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-word-end", Title: "End of the word", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the end of the word.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-big-word-next", Title: "Next big word", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the start of the next word, taking all between blanks as one.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-big-word-back", Title: "Big word before", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the start of the word before, taking all between blanks as one.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-big-word-end", Title: "End of the big word", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the end of the word, taking all between blanks as one.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-find", Title: "To a character", Group: groupCopying, Args: character,
		Help:     "Move the cursor of copy mode to the next such character of the line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-find-back", Title: "Back to a character", Group: groupCopying, Args: character,
		Help:     "Move the cursor of copy mode to the last such character before it on the line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-till", Title: "Up to a character", Group: groupCopying, Args: character,
		Help:     "Move the cursor of copy mode before the next such character of the line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-till-back", Title: "Back up to a character", Group: groupCopying, Args: character,
		Help:     "Move the cursor of copy mode behind the last such character before it on the line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-find-again", Title: "To the character again", Group: groupCopying,
		Help:     "Repeat the last move to a character.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-find-reverse", Title: "Back to the character again", Group: groupCopying,
		Help:     "Repeat the last move to a character in the other direction.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-bracket", Title: "Matching bracket", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the bracket that belongs to the one here.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-paragraph-next", Title: "Next paragraph", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the next paragraph.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-paragraph-back", Title: "Paragraph before", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the paragraph before.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-screen-top", Title: "Top of the pane", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the top line of the pane.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-screen-middle", Title: "Middle of the pane", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the middle line of the pane.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-screen-bottom", Title: "Bottom of the pane", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the bottom line of the pane.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-view-up", Title: "View up", Group: groupCopying,
		Help:     "Scroll what copy mode shows back by a line; the cursor stays on its line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-view-down", Title: "View down", Group: groupCopying,
		Help:     "Scroll what copy mode shows forward by a line; the cursor stays on its line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-view-top", Title: "Line to the top", Group: groupCopying,
		Help:     "Scroll so that the line of copy mode's cursor is at the top.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-view-middle", Title: "Line to the middle", Group: groupCopying,
		Help:     "Scroll so that the line of copy mode's cursor is in the middle.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-view-bottom", Title: "Line to the bottom", Group: groupCopying,
		Help:     "Scroll so that the line of copy mode's cursor is at the bottom.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-go-line", Title: "Go to a line", Group: groupCopying,
		Args:     []Arg{{Name: "number", Kind: Int, Optional: true, Min: 1, Max: 1 << 30}},
		Help:     "Move the cursor of copy mode to the line with this number, 1 being the oldest; to the last one without a number.",
		Disabled: all(pane, copying),
		describe: func(args []string) string { return "Go to line " + args[0] },
	},
	{
		Name: "copy-count", Title: "Count", Group: groupCopying,
		Args:     []Arg{{Name: "digit", Kind: Int, Min: 0, Max: 9}},
		Help:     "Add a digit to how often the next command of copy mode is done; 0 without others goes to the line's start.",
		Disabled: all(pane, copying),
		describe: func(args []string) string {
			if args[0] == "0" {
				return "Start of the line, or 0"
			}
			return "How often to do the next command"
		},
	},
	{
		Name: "copy-set-mark", Title: "Set a mark", Group: groupCopying, Args: character,
		Help:     "Remember the place of copy mode's cursor under a letter.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-go-mark", Title: "Go to a mark", Group: groupCopying, Args: character,
		Help:     "Go to the place remembered under a letter; ' is the one before the last jump.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-select", Title: "Select", Group: groupCopying,
		Help:     "Start a selection at the cursor of copy mode, or end it.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-select-lines", Title: "Select lines", Group: groupCopying,
		Help:     "Start a selection of whole lines at the cursor of copy mode, or end it.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-select-block", Title: "Select a block", Group: groupCopying,
		Help:     "Start a rectangular selection at the cursor of copy mode, or end it.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-other-end", Title: "Other end", Group: groupCopying,
		Help:     "Move the cursor of copy mode to the other end of the selection.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-select-clear", Title: "Select nothing", Group: groupCopying,
		Help:     "Take the selection away and stay in copy mode.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-selection", Title: "Copy what is selected", Group: groupCopying,
		Help:     "Copy what is selected with the mouse or in copy mode, or copy mode's line, and stay.",
		Disabled: all(pane),
	},
	{
		Name: "copy-open-link", Title: "Open the link", Group: groupCopying,
		Help:     "Open the link at the cursor of copy mode, or the last one that shows; ctrl with a click does it too.",
		Disabled: all(pane),
	},
	{
		Name: "copy-link", Title: "Copy the link", Group: groupCopying,
		Help:     "Copy the address of the link at the cursor of copy mode, or of the last one that shows; ctrl and alt with a click does it too.",
		Disabled: all(pane),
	},
	{
		Name: "copy-yank", Title: "Copy and leave", Group: groupCopying,
		Help:     "Copy what is selected, if anything is, and leave copy mode.",
		Disabled: all(pane, copying),
	},
	{
		Name: "search", Title: "Search", Group: groupCopying,
		Help:     "Look for a regular expression as it is typed, from here towards the newest line; without upper case letters either case matches.",
		Disabled: all(pane),
	},
	{
		Name: "search-back", Title: "Search back", Group: groupCopying,
		Help:     "Look for a regular expression as it is typed, from here towards the oldest line.",
		Disabled: all(pane),
	},
	{
		Name: "search-next", Title: "Next match", Group: groupCopying,
		Help:     "Go to the next match of the search, in its direction.",
		Disabled: all(pane),
	},
	{
		Name: "search-previous", Title: "Previous match", Group: groupCopying,
		Help:     "Go to the next match of the search, against its direction.",
		Disabled: all(pane),
	},
	{
		Name: "search-word", Title: "Search the word here", Group: groupCopying,
		Help:     "Look for the word at the cursor of copy mode, towards the newest line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "search-word-back", Title: "Search the word here back", Group: groupCopying,
		Help:     "Look for the word at the cursor of copy mode, towards the oldest line.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-escape", Title: "Back", Group: groupCopying,
		Help:     "Take the selection away, or leave copy mode where nothing is selected.",
		Disabled: all(pane, copying),
	},
	{
		Name: "copy-exit", Title: "Leave copy mode", Group: groupCopying,
		Help:     "Leave copy mode and return to what the program shows now.",
		Disabled: all(pane, copying),
	},
}
