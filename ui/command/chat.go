package command

// agentRows are about sessions with agents and their chats. Those of the group Chats
// are for the focused pane's, and most have keys of its own.
var agentRows = []Command{
	{
		Name: "agents", Title: "Agents", Group: groupAgents,
		Help:     "Show the sessions with agents and how each stands: open, begin, rename, archive or end one.",
		Disabled: all(connected, sessions),
	},
	{
		Name: "new-session", Title: "New session", Group: groupAgents, Args: []Arg{{Name: "agent", Kind: Text, Optional: true}},
		Help:     "Begin a session with an agent in this pane's directory; asks which agent when there are several.",
		Disabled: all(connected, sessions),
		describe: func(args []string) string { return "New session with " + args[0] },
	},
	{
		Name: "open-chat", Title: "From a terminal to its chat", Group: groupAgents,
		Help:     "Show the chat whose agent runs or ran this terminal; from a chat, show the terminal of its last tool call.",
		Disabled: all(connected, sessions, linked),
	},
	{
		Name: "chat-send", Title: "Send the message", Group: groupChats,
		Help:     "Send the message, or queue it while a turn runs; in a question choose what the cursor is on, in a form go on.",
		Disabled: all(chat),
	},
	{
		Name: "chat-newline", Title: "New line", Group: groupChats,
		Help:     "Begin another line of the message.",
		Disabled: all(chat),
	},
	{
		Name: "chat-steer", Title: "Send into the turn", Group: groupChats,
		Help:     "Tell the agent now, in the turn that runs, instead of after it.",
		Disabled: all(chat),
	},
	{
		Name: "chat-escape", Title: "Close, or cancel the turn", Group: groupChats,
		Help:     "Close what is open; twice cancel the turn that runs.",
		Disabled: all(chat),
	},
	{
		Name: "chat-cancel", Title: "Clear, or cancel the turn", Group: groupChats,
		Help:     "Clear the prompt; when it is empty cancel the turn that runs.",
		Disabled: all(chat),
	},
	{
		Name: "chat-tab", Title: "Complete, or go on", Group: groupChats,
		Help:     "Complete the word, go to the next field or to a question, or give the keys to the transcript and back.",
		Disabled: all(chat),
	},
	{
		Name: "chat-mode", Title: "Next mode", Group: groupChats,
		Help:     "Take the next of the agent's modes; in a form go back a field.",
		Disabled: all(chat),
	},
	{
		Name: "chat-up", Title: "Up in the prompt", Group: groupChats,
		Help:     "Move up in the prompt; above it, take an older message of yours.",
		Disabled: all(chat),
	},
	{
		Name: "chat-down", Title: "Down in the prompt", Group: groupChats,
		Help:     "Move down in the prompt; below it, take a newer message of yours.",
		Disabled: all(chat),
	},
	{
		Name: "chat-older", Title: "Older message", Group: groupChats,
		Help:     "Take an older message of yours into the prompt.",
		Disabled: all(chat),
	},
	{
		Name: "chat-newer", Title: "Newer message", Group: groupChats,
		Help:     "Take a newer message of yours into the prompt.",
		Disabled: all(chat),
	},
	{
		Name: "chat-unqueue", Title: "Take back a queued message", Group: groupChats,
		Help:     "Take the message that was queued last back into the prompt.",
		Disabled: all(chat),
	},
	{
		Name: "chat-edit", Title: "Edit in an editor", Group: groupChats,
		Help:     "Write the message in your editor, in a pane of its own.",
		Disabled: all(chat),
	},
	{
		Name: "chat-details", Title: "Show all details", Group: groupChats,
		Help:     "Unfold all reasoning and all that tools gave, or fold it again.",
		Disabled: all(chat),
	},
	{
		Name: "chat-plan", Title: "Show the plan", Group: groupChats,
		Help:     "Show every step of the agent's plan, or one line of it.",
		Disabled: all(chat),
	},
	{
		Name: "chat-options", Title: "Options", Group: groupChats,
		Help:     "Choose the agent's mode, model and other options, and when tools ask first.",
		Disabled: all(chat),
	},
	{
		Name: "chat-model", Title: "Choose a model", Group: groupChats,
		Help:     "Choose the agent's model.",
		Disabled: all(chat),
	},
	{
		Name: "chat-approve", Title: "Allow once", Group: groupChats,
		Help:     "Allow the tool call that waits, this once.",
		Disabled: all(chat),
	},
	{
		Name: "chat-approve-always", Title: "Allow always", Group: groupChats,
		Help:     "Allow the tool call that waits, and such calls from now on.",
		Disabled: all(chat),
	},
	{
		Name: "chat-reject", Title: "Reject", Group: groupChats,
		Help:     "Reject the tool call that waits.",
		Disabled: all(chat),
	},
	{
		Name: "chat-read", Title: "Read the transcript", Group: groupChats,
		Help:     "Give the keys to the transcript.",
		Disabled: all(chat),
	},
	{
		Name: "chat-prompt", Title: "Back to the prompt", Group: groupChats,
		Help:     "Give the keys to the prompt.",
		Disabled: all(chat),
	},
	{
		Name: "chat-next", Title: "Next part", Group: groupChats,
		Help:     "Go to the next message, answer, block of code or tool call.",
		Disabled: all(chat),
	},
	{
		Name: "chat-previous", Title: "Previous part", Group: groupChats,
		Help:     "Go to the previous message, answer, block of code or tool call.",
		Disabled: all(chat),
	},
	{
		Name: "chat-fold", Title: "Fold or unfold", Group: groupChats,
		Help:     "Fold or unfold the reasoning or tool call that the cursor is on.",
		Disabled: all(chat),
	},
	{
		Name: "chat-copy", Title: "Copy this part", Group: groupChats,
		Help:     "Copy the selection or the part that the cursor is on; from the prompt, the last answer.",
		Disabled: all(chat),
	},
	{
		Name: "chat-answer", Title: "Copy the answer", Group: groupChats,
		Help:     "Copy all that the agent said in this turn.",
		Disabled: all(chat),
	},
	{
		Name: "chat-code", Title: "Copy the last code", Group: groupChats,
		Help:     "Copy the last block of code.",
		Disabled: all(chat),
	},
	{
		Name: "chat-terminal", Title: "Open the terminal", Group: groupChats,
		Help:     "Show the terminal of this tool call, or of the last one, in a pane.",
		Disabled: all(chat),
	},
	{
		Name: "chat-fork", Title: "Fork", Group: groupChats,
		Help:     "Begin another chat with what was said up to here, where the agent can.",
		Disabled: all(chat),
	},
	{
		Name: "chat-rewind", Title: "Rewind", Group: groupChats,
		Help:     "Forget this message and all after it, and edit it again.",
		Disabled: all(chat),
	},
	{
		Name: "chat-retry", Title: "Try again", Group: groupChats,
		Help:     "Go on with the turn that failed, or send its message again.",
		Disabled: all(chat),
	},
	{
		Name: "chat-login", Title: "Log in", Group: groupChats,
		Help:     "Log in to the agent that asks for it.",
		Disabled: all(chat),
	},
	{
		Name: "chat-search", Title: "Search the transcript", Group: groupChats,
		Help:     "Look for a text in the transcript.",
		Disabled: all(chat),
	},
	{
		Name: "chat-find-next", Title: "Next match in the transcript", Group: groupChats,
		Help:     "Go to the next match.",
		Disabled: all(chat),
	},
	{
		Name: "chat-find-back", Title: "Previous match in the transcript", Group: groupChats,
		Help:     "Go to the match before.",
		Disabled: all(chat),
	},
	{
		Name: "chat-line-up", Title: "Scroll the transcript up", Group: groupChats,
		Help:     "Scroll the transcript back by a line.",
		Disabled: all(chat),
	},
	{
		Name: "chat-line-down", Title: "Scroll the transcript down", Group: groupChats,
		Help:     "Scroll the transcript forward by a line.",
		Disabled: all(chat),
	},
	{
		Name: "chat-half-up", Title: "Scroll the transcript half a page up", Group: groupChats,
		Help:     "Scroll the transcript back by half of its height.",
		Disabled: all(chat),
	},
	{
		Name: "chat-half-down", Title: "Scroll the transcript half a page down", Group: groupChats,
		Help:     "Scroll the transcript forward by half of its height.",
		Disabled: all(chat),
	},
	{
		Name: "chat-page-up", Title: "Scroll the transcript a page up", Group: groupChats,
		Help:     "Scroll the transcript back by its height.",
		Disabled: all(chat),
	},
	{
		Name: "chat-page-down", Title: "Scroll the transcript a page down", Group: groupChats,
		Help:     "Scroll the transcript forward by its height.",
		Disabled: all(chat),
	},
	{
		Name: "chat-top", Title: "First message", Group: groupChats,
		Help:     "Go to the beginning of the transcript.",
		Disabled: all(chat),
	},
	{
		Name: "chat-bottom", Title: "Newest text", Group: groupChats,
		Help:     "Follow the newest text again.",
		Disabled: all(chat),
	},
}
