package sessions

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/internal/fileuri"
)

const (
	maxCompleted   = 1 << 20 // bytes of the text that is completed
	maxDirectory   = 5000    // entries of a directory that are looked at
	maxCompletions = 50
)

// Triggers begin what completions offers something for.
var Triggers = []string{"/", "@"}

// completions offers the agent's commands for a message that begins with "/", and
// files of the session's directories for a word that begins with "@".
func (ss *Sessions) completions(_ context.Context, c *requests.Conn, p ahp.CompletionsParams) (any, error) {
	tx := ss.Core.Lock()
	chat, ok := core.At[*Chat](tx, p.Channel)
	var commands []ahp.AgentCommand
	var roots []string
	if ok {
		commands, roots = chat.s.meta.Commands, chat.s.facts.Roots
	}
	tx.Unlock()
	if !ok {
		return nil, ahp.SessionNotFound("completions: there is no chat %q", params.Clip(p.Channel))
	}
	units := utf16.Encode([]rune(p.Text[:min(len(p.Text), maxCompleted)]))
	if p.Offset < 0 || p.Offset > len(units) {
		return nil, ahp.InvalidParams("completions: offset: %d is not in the text", p.Offset)
	}
	before := string(utf16.Decode(units[:p.Offset]))
	start := strings.LastIndexAny(before, " \t\n") + 1
	word := before[start:]
	at := len(utf16.Encode([]rune(before[:start])))
	var items []ahp.CompletionItem
	switch {
	case p.Kind != "userMessage":
	case start == 0 && strings.HasPrefix(word, "/"):
		for _, k := range commands {
			if strings.HasPrefix(k.Name, word[1:]) {
				items = append(items, ahp.CompletionItem{InsertText: "/" + k.Name + " "})
			}
		}
	case strings.HasPrefix(word, "@") && c.Principal.May(auth.ScopeRead):
		items = fileCompletions(roots, word[1:])
	}
	for i := range items {
		items[i].RangeStart, items[i].RangeEnd = &at, &p.Offset
	}
	return ahp.CompletionsResult{Items: items}, nil
}

// fileCompletions are the files below the roots whose path, relative to one,
// begins with a text; one directory is read for each root.
func fileCompletions(roots []string, text string) []ahp.CompletionItem {
	var items []ahp.CompletionItem
	dir, name := filepath.Split(text)
	for _, path := range roots {
		root, err := os.OpenRoot(path)
		if err != nil {
			continue
		}
		f, err := root.Open(filepath.Join(".", dir))
		if err == nil {
			entries, _ := f.ReadDir(maxDirectory) //nolint:errcheck // what was read is offered
			f.Close()
			slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), name) && (name != "" || !strings.HasPrefix(e.Name(), ".")) && len(items) < maxCompletions {
					items = append(items, fileCompletion(path, filepath.Join(dir, e.Name()), e.IsDir()))
				}
			}
		}
		root.Close()
	}
	return items
}

func fileCompletion(root, rel string, dir bool) ahp.CompletionItem {
	if dir {
		return ahp.CompletionItem{InsertText: "@" + rel + "/"}
	}
	at := fileuri.Of(filepath.Join(root, rel))
	return ahp.CompletionItem{
		InsertText: "@" + rel + " ",
		Attachment: &ahp.Attachment{Type: ahp.AttachResource, Label: rel, URI: at, DisplayKind: "document"},
	}
}
