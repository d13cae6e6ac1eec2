package tmux

import "errors"

// command is one that is answered.
type command struct {
	name, alias string
	flags       string // as getopt(3) has them
	most        int    // arguments at most, -1 for any number
	not, moves  string // flags that are refused: as not known here, as moving the focus
	do          func(a *answerer, c call) error
}

// commands are all that are answered, with tmux's names and flags.
func commands() []command {
	return []command{
		{"split-window", "splitw", "bc:de:fF:hIl:p:Pt:vZ", -1, "fI", "Z", (*answerer).splitWindow},
		{"new-window", "neww", "abc:de:F:kn:PSt:", -1, "abkS", "", (*answerer).newWindow},
		{"new-session", "new", "Ac:dDe:EF:f:n:Ps:t:x:Xy:", -1, "ADEfX", "", (*answerer).newSession},
		{"respawn-pane", "respawnp", "c:e:kt:", -1, "", "", on((*answerer).respawnPane, (*answerer).ofTeam)},
		{"break-pane", "breakp", "abdF:n:Ps:t:", 0, "ab", "", (*answerer).breakPane},
		{"join-pane", "joinp", "bdfhl:p:s:t:v", 0, "f", "", (*answerer).joinPane},
		{"move-pane", "movep", "bdfhl:p:s:t:v", 0, "f", "", (*answerer).joinPane},
		{"kill-pane", "killp", "at:", 0, "", "", on((*answerer).killPane)},
		{"kill-window", "killw", "at:", 0, "a", "", on((*answerer).killWindow)},
		{"kill-session", "", "aCt:", 0, "aC", "", (*answerer).killSession},

		{"send-keys", "send", "c:FHKlMN:RXt:", -1, "cFKMRX", "", on((*answerer).sendKeys, (*answerer).ours)},
		{"capture-pane", "capturep", "ab:CeE:JMNpPqS:Tt:", 0, "abCMP", "", on((*answerer).capturePane)},

		{"list-panes", "lsp", "aF:f:st:", 0, "", "", (*answerer).listPanes},
		{"list-windows", "lsw", "aF:f:t:", 0, "", "", (*answerer).listWindows},
		{"list-sessions", "ls", "F:f:", 0, "", "", (*answerer).listSessions},
		{"has-session", "has", "t:", 0, "", "", (*answerer).hasSession},
		{"display-message", "display", "aCc:d:INpt:F:lv", 1, "aCcdINv", "", on((*answerer).displayMessage)},

		{"select-pane", "selectp", "DdegLlMmP:RT:t:UZ", 0, "", "", (*answerer).selectPane},
		{"select-window", "selectw", "lnpTt:", 0, "", "", (*answerer).stay},
		{"select-layout", "selectl", "Enopt:", 1, "nop", "", on((*answerer).selectLayout, (*answerer).near)},
		{"resize-pane", "resizep", "DLMRTt:Ux:y:Z", 1, "MT", "Z", (*answerer).resizePane},
		{"rename-window", "renamew", "t:", 1, "", "", on((*answerer).renameWindow, (*answerer).near)},

		{"set-option", "set", "aFgopqst:uUw", 2, "aFsuU", "", (*answerer).setOption},
		{"set-window-option", "setw", "aFgoqt:u", 2, "aFsuU", "", (*answerer).setOption},
		{"show-options", "show", "AgHpqst:vw", 1, "", "", (*answerer).showOptions},
		{"show-environment", "showenv", "ghst:", 1, "", "", (*answerer).showEnvironment},
		{"load-buffer", "loadb", "b:t:w", 1, "abnt", "", (*answerer).loadBuffer},
		{"set-buffer", "setb", "ab:n:t:w", 1, "abnt", "", (*answerer).loadBuffer},
		{"start-server", "start", "", 0, "", "", (*answerer).stay},
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

// on has a command done on what -t names, if the command may change that.
func on(do func(*answerer, call, spot) error, may ...func(*answerer, spot, string) error) func(*answerer, call) error {
	return func(a *answerer, c call) error {
		_, at, err := a.find(c.value('t'))
		for _, may := range may {
			if err == nil {
				err = may(a, at, c.name)
			}
		}
		if err != nil {
			return err
		}
		return do(a, c, at)
	}
}

// Reasons for refusals.
const (
	unknown = "tandemux, which answers as tmux here, does not know this"
	focus   = "it would move what the person looks at, which no agent does here"
)

// stay is what would move the focus, which stays where the person has it.
func (a *answerer) stay(call) error { return nil }
