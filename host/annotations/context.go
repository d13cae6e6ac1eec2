package annotations

import (
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// maxContext bounds what an agent is told with one message, in bytes.
const maxContext = 256 << 10

// Context is what the agent is told of the annotations that a message has attached, "" for
// none. inside gives the agent's name of a path.
func (as *Annotations) Context(core *core.Core, session ahp.URI, m ahp.Message, inside func(path string) string) string {
	tx := core.Lock()
	var list []annotation.Annotation
	var roots []string
	if c := at(tx, session); c != nil {
		list, roots = c.chosen(m.Attachments), as.Roots(tx, session)
	}
	tx.Unlock()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Comments on files, for you to see to:\n")
	for i, n := range list {
		text := as.describe(n, roots, inside)
		if b.Len()+len(text) > maxContext {
			fmt.Fprintf(&b, "\n(%d more are left out.)\n", len(list)-i)
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

// describe is one annotation.
func (as *Annotations) describe(n annotation.Annotation, roots []string, inside func(string) string) string {
	var b strings.Builder
	path, _ := fileuri.Local(n.Resource, as.Hostname)
	name, ok := below(path, roots)
	if !ok || name == path {
		name = inside(path)
	}
	fmt.Fprintf(&b, "\n%s", params.CleanTitle(name))
	if r := n.Range; r != nil {
		first, last := r.Start.Line+1, r.End.Line+1
		if r.End.Character == 0 && last > first { // The end is not in it.
			last--
		}
		if first == last {
			fmt.Fprintf(&b, ", line %d", first)
		} else {
			fmt.Fprintf(&b, ", lines %d to %d", first, last)
		}
	}
	if as.missing(n.Resource) != "" {
		b.WriteString(" (the file is gone)")
	}
	if n.Resolved {
		b.WriteString(" (resolved)")
	}
	b.WriteString(":\n")
	for _, e := range n.Entries {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(strings.TrimSpace(e.Text.Text), "\n", "\n  "))
	}
	return b.String()
}
