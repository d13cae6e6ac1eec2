package tmux

import "errors"

// command is one that is answered.
type command struct {
	name, alias string
	flags       string // as getopt(3) has them
	most        int    // arguments at most, -1 for any number
	do          func(a *answerer, c call) error
}

// commands are all that are answered, with tmux's names and flags.
func commands() []command {
	return []command{
		{"split-window", "splitw", "bc:de:fF:hIl:p:Pt:vZ", -1, (*answerer).splitWindow},
		{"new-window", "neww", "abc:de:F:kn:PSt:", -1, (*answerer).newWindow},
		{"new-session", "new", "Ac:dDe:EF:f:n:Ps:t:x:Xy:", -1, (*answerer).newSession},
		{"respawn-pane", "respawnp", "c:e:kt:", -1, (*answerer).respawnPane},
		{"break-pane", "breakp", "abdF:n:Ps:t:", 0, (*answerer).breakPane},
		{"join-pane", "joinp", "bdfhl:p:s:t:v", 0, (*answerer).joinPane},
		{"move-pane", "movep", "bdfhl:p:s:t:v", 0, (*answerer).joinPane},
		{"kill-pane", "killp", "at:", 0, (*answerer).killPane},
		{"kill-window", "killw", "at:", 0, (*answerer).killWindow},
		{"kill-session", "", "aCt:", 0, (*answerer).killSession},

		{"send-keys", "send", "c:FHKlMN:RXt:", -1, (*answerer).sendKeys},
		{"capture-pane", "capturep", "ab:CeE:JMNpPqS:Tt:", 0, (*answerer).capturePane},

		{"list-panes", "lsp", "aF:f:st:", 0, (*answerer).listPanes},
		{"list-windows", "lsw", "aF:f:t:", 0, (*answerer).listWindows},
		{"list-sessions", "ls", "F:f:", 0, (*answerer).listSessions},
		{"has-session", "has", "t:", 0, (*answerer).hasSession},
		{"display-message", "display", "aCc:d:INpt:F:lv", 1, (*answerer).displayMessage},

		{"select-pane", "selectp", "DdegLlMmP:RT:t:UZ", 0, (*answerer).selectPane},
		{"select-window", "selectw", "lnpTt:", 0, (*answerer).stay},
		{"select-layout", "selectl", "Enopt:", 1, (*answerer).selectLayout},
		{"resize-pane", "resizep", "DLMRTt:Ux:y:Z", 1, (*answerer).resizePane},
		{"rename-window", "renamew", "t:", 1, (*answerer).renameWindow},

		{"set-option", "set", "aFgopqst:uUw", 2, (*answerer).setOption},
		{"set-window-option", "setw", "aFgoqt:u", 2, (*answerer).setOption},
		{"show-options", "show", "AgHpqst:vw", 1, (*answerer).showOptions},
		{"show-environment", "showenv", "ghst:", 1, (*answerer).showEnvironment},
		{"load-buffer", "loadb", "b:t:w", 1, (*answerer).loadBuffer},
		{"set-buffer", "setb", "ab:n:t:w", 1, (*answerer).loadBuffer},
		{"start-server", "start", "", 0, (*answerer).stay},
	}
}

// refuse says that a flag is not answered.
func (c call) refuse(flags string, why string) error {
	for i := range len(flags) {
		if c.has(flags[i]) {
			return errors.New(c.name + " -" + flags[i:i+1] + ": " + why)
		}
	}
	return nil
}

// Reasons for refusals.
const (
	unknown = "tandemux, which answers as tmux here, does not know this"
	focus   = "it would move what the person looks at, which no agent does here"
)

// stay is what would move the focus, which stays where the person has it.
func (a *answerer) stay(call) error { return nil }
