package completion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
)

const (
	maxCompleted   = 1 << 20 // bytes of the text that is completed
	maxDirectory   = 5000    // entries of a directory that are looked at
	maxCompletions = 50
)

// Triggers begin what there are completions for.
var Triggers = []string{"/", "@"}

// Of offers the commands for a message that begins with "/", and files below the roots for
// a word that begins with "@".
func Of(p ahp.CompletionsParams, commands []ahp.AgentCommand, roots []string) (r ahp.CompletionsResult, err error) {
	units := utf16.Encode([]rune(p.Text[:min(len(p.Text), maxCompleted)]))
	if p.Offset < 0 || p.Offset > len(units) {
		return r, ahp.InvalidParams("completions: offset: %d is not in the text", p.Offset)
	}
	before := string(utf16.Decode(units[:p.Offset]))
	start := strings.LastIndexAny(before, " \t\n") + 1
	word := before[start:]
	at := len(utf16.Encode([]rune(before[:start])))
	switch {
	case p.Kind != "userMessage":
	case start == 0 && strings.HasPrefix(word, "/"):
		for _, k := range commands {
			if strings.HasPrefix(k.Name, word[1:]) {
				r.Items = append(r.Items, ahp.CompletionItem{InsertText: "/" + k.Name + " "})
			}
		}
	case strings.HasPrefix(word, "@"):
		r.Items = files(roots, word[1:])
	}
	for i := range r.Items {
		it := &r.Items[i]
		it.RangeStart, it.RangeEnd = &at, &p.Offset
		if it.Attachment == nil { // each must have one; this one tells an agent nothing
			it.Attachment = &ahp.Attachment{Type: ahp.AttachSimple, Label: strings.TrimSpace(it.InsertText)}
		}
	}
	return r, nil
}

// files are the files below the roots whose path, relative to one,
// begins with a text; one directory is read for each root.
func files(roots []string, text string) []ahp.CompletionItem {
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
					items = append(items, file(path, filepath.Join(dir, e.Name()), e.IsDir()))
				}
			}
		}
		root.Close()
	}
	return items
}

func file(root, rel string, dir bool) ahp.CompletionItem {
	if dir {
		return ahp.CompletionItem{InsertText: "@" + rel + "/"}
	}
	at := fileuri.Of(filepath.Join(root, rel))
	return ahp.CompletionItem{
		InsertText: "@" + rel + " ",
		Attachment: &ahp.Attachment{Type: ahp.AttachResource, Label: rel, URI: at, DisplayKind: "document"},
	}
}
