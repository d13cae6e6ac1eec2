package chat

import (
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/markup"
	"tandemux/ui/words"
)

// planLines are an agent's plan: on one line, or with open a line for each step.
func planLines(plan []ahp.AgentPlanEntry, open bool, w, most int, g *markup.Glyphs) []markup.Line {
	if len(plan) == 0 || most <= 0 {
		return nil
	}
	done := 0
	for _, e := range plan {
		if e.Status == "completed" {
			done++
		}
	}
	at := slices.IndexFunc(plan, func(e ahp.AgentPlanEntry) bool { return e.Status == "in_progress" })
	if at < 0 {
		at = slices.IndexFunc(plan, func(e ahp.AgentPlanEntry) bool { return e.Status != "completed" })
	}
	head := []markup.Run{{Text: fmt.Sprintf("Plan %d/%d", done, len(plan)), Role: markup.Accent}}
	if !open && at >= 0 {
		head = append(head, markup.Run{Text: " " + g.Dot + " " + words.Line(plan[at].Text), Role: markup.Muted})
	}
	lines := []markup.Line{{Runs: markup.Cut(head, w, g.Ellipsis)}}
	if !open {
		return lines
	}
	from := 0
	if room := most - 1; len(plan) > room && room > 0 {
		// What is done already makes room first.
		from = min(max(done-1, 0), len(plan)-room)
	}
	for _, e := range plan[from:] {
		if len(lines) >= most {
			break
		}
		mark, r := markup.Run{Text: g.Box + " ", Role: markup.Muted}, markup.Run{Text: words.Line(e.Text)}
		switch e.Status {
		case "completed":
			mark, r.Role, r.Attr = markup.Run{Text: g.Checked + " ", Role: markup.Passed}, markup.Muted, markup.Strike
		case "in_progress":
			mark, r.Attr = markup.Run{Text: g.Running + " ", Role: markup.Running}, markup.Bold
		}
		lines = append(lines, markup.Line{Runs: markup.Cut([]markup.Run{{Text: " "}, mark, r}, w, g.Ellipsis)})
	}
	return lines
}
