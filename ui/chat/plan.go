package chat

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/ui/words"
)

// planLines are an agent's plan: on one line, or with open a line for each step.
func planLines(plan []ahp.AgentPlanEntry, open bool, w, most int, g *glyphs) []line {
	if len(plan) == 0 || most <= 0 {
		return nil
	}
	done, now := 0, ""
	for _, e := range plan {
		switch e.Status {
		case "completed":
			done++
		case "in_progress":
			if now == "" {
				now = e.Text
			}
		}
	}
	if now == "" {
		for _, e := range plan {
			if e.Status != "completed" {
				now = e.Text
				break
			}
		}
	}
	head := []run{{text: fmt.Sprintf("Plan %d/%d", done, len(plan)), role: accent}}
	if !open && now != "" {
		head = append(head, run{text: " " + g.dot + " " + words.Line(now), role: muted})
	}
	lines := []line{{runs: cut(head, w, g.ellipsis)}}
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
		mark, r := run{text: g.box + " ", role: muted}, run{text: words.Line(e.Text)}
		switch e.Status {
		case "completed":
			mark, r.role, r.attr = run{text: g.checked + " ", role: passed}, muted, strike
		case "in_progress":
			mark, r.attr = run{text: g.running + " ", role: running}, bold
		}
		lines = append(lines, line{runs: cut([]run{{text: " "}, mark, r}, w, g.ellipsis)})
	}
	return lines
}
