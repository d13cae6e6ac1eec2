package command

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
		Name: "previous-command", Title: "Previous command", Group: groupScrolling,
		Help:     "Scroll back to the first line of a command, or move the cursor of copy mode there.",
		Disabled: all(pane, detects, ran, mainText, previous),
	},
	{
		Name: "next-command", Title: "Next command", Group: groupScrolling,
		Help:     "Scroll forward to the first line of a command, and from the last one to what the program shows now.",
		Disabled: all(pane, detects, ran, mainText, next),
	},
	{
		Name: "copy-output", Title: "Copy a command's output", Group: groupScrolling,
		Help:     "Copy the output of the last command, or of the one that was scrolled to.",
		Disabled: all(pane, detects, ran, mainText),
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
		Name: "copy-yank", Title: "Copy and leave", Group: groupCopying,
		Help:     "Copy what is selected, if anything is, and leave copy mode.",
		Disabled: all(pane, copying),
	},
	{
		Name: "search", Title: "Search", Group: groupCopying,
		Help:     "Look for a text, from here towards the newest line.",
		Disabled: all(pane),
	},
	{
		Name: "search-back", Title: "Search back", Group: groupCopying,
		Help:     "Look for a text, from here towards the oldest line.",
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
		Name: "copy-exit", Title: "Leave copy mode", Group: groupCopying,
		Help:     "Leave copy mode and return to what the program shows now.",
		Disabled: all(pane, copying),
	},
}
