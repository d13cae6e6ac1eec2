package command

// shellRows are about the commands that the terminals' shells have run.
var shellRows = []Command{
	{
		Name: "previous-command", Title: "Previous command", Group: groupCommands,
		Help:     "Go to the command before, scrolling to its line where that does not show, and mark it: copying, folding and running again are about it. In copy mode move the cursor there.",
		Disabled: all(pane, detects, ran, mainText, previous),
	},
	{
		Name: "next-command", Title: "Next command", Group: groupCommands,
		Help:     "Go to the command after, and from the last one to what the program shows now.",
		Disabled: all(pane, detects, ran, mainText, next),
	},
	{
		Name: "commands", Title: "All commands", Group: groupCommands,
		Help:     "Show the commands that this terminal has run: go to one, copy its output or line, run it again, see only those that failed.",
		Disabled: all(pane, detects, ran),
	},
	{
		Name: "copy-output", Title: "Copy a command's output", Group: groupCommands,
		Help:     "Copy the output of the last command, or of the one that was gone to.",
		Disabled: all(pane, detects, ran, mainText),
	},
	{
		Name: "copy-command-line", Title: "Copy a command's line", Group: groupCommands,
		Help:     "Copy the line of the last command, or of the one that was gone to.",
		Disabled: all(pane, detects, ran, mainText),
	},
	{
		Name: "select-output", Title: "Select a command's output", Group: groupCommands,
		Help:     "Enter copy mode with the output of the last command selected, or of the one that was gone to.",
		Disabled: all(pane, detects, ran, mainText),
	},
	{
		Name: "fold-output", Title: "Fold a command's output", Group: groupCommands,
		Help:     "Leave out the output of the last command, or of the one that was gone to, or show it again; the command's line stays.",
		Disabled: all(pane, detects, ran, mainText),
	},
	{
		Name: "fold-all", Title: "Fold all output", Group: groupCommands,
		Help:     "Leave out the output of all commands of this pane that have ended.",
		Disabled: all(pane, detects, ran, mainText),
	},
	{
		Name: "unfold-all", Title: "Unfold all output", Group: groupCommands,
		Help:     "Show all output of this pane again.",
		Disabled: all(pane, detects, ran, mainText),
	},
	{
		Name: "run-again", Title: "Run a command again", Group: groupCommands,
		Help:     "Type the line of the last command, or of the one that was gone to, at the prompt and run it; nothing is typed where no empty prompt waits.",
		Disabled: all(connected, pane, mine, running, detects, ran, mainText),
	},
}
