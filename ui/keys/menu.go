package keys

import (
	"strings"

	"tandemux/ui/command"
	"tandemux/ui/overlay"
)

// menus are the commands that the right button offers, by what it is pressed on; "" is a
// line between them.
var menus = map[string][]string{
	"pane": {
		"copy-selection", "paste-buffer", "", "split-right", "split-down", "zoom", "rename-pane", "",
		"reclaim", "hand-back", "background", "end-share", "", "close-pane",
	},
	"tab":  {"new-tab", "rename-tab", "", "move-tab-left", "move-tab-right", "move-tab", "", "close-tab"},
	"line": {"layouts", "switch-layout last", "", "terminals", "agents", "new-tab", "", "palette", "help", "detach"},
}

// OpenMenu opens a menu at a place: of the "pane" or "tab" that has the focus, or of the
// status "line".
func (k *Keys) OpenMenu(of, title string, x, y int) {
	ctx := k.do.Context()
	var items []overlay.Item
	for _, line := range menus[of] {
		words := strings.Fields(line)
		if len(words) == 0 {
			items = append(items, overlay.Item{})
			continue
		}
		name, args := words[0], words[1:]
		_, text, _ := command.Describe(name, args)
		items = append(items, overlay.Item{
			Text: text, Keys: k.Short(name, args...), Why: command.Why(name, args, ctx),
			Do: func() { k.loop.Close(); k.do.Run(name, args) },
		})
	}
	k.loop.Open(&overlay.Menu{Title: title, Items: items, X: x, Y: y})
}
