package main

import (
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"tandemux/host/mcp"
)

// TestSkill holds the guide for agents against the real commands and tools.
func TestSkill(t *testing.T) {
	lines := 0
	for _, line := range strings.Split(skill, "\n") {
		command, ok := strings.CutPrefix(line, "    tandemux ")
		if !ok {
			continue
		}
		lines++
		cmd, rest, err := newRoot().Find(wordsOf(t, command))
		if err != nil || !cmd.Runnable() {
			t.Errorf("%q is no command: %v", line, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if cmd.Args != nil {
			if err := cmd.Args(cmd, cmd.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	if lines < 10 {
		t.Errorf("only %d commands in the guide", lines)
	}
	for _, name := range mcp.Names() {
		if !strings.Contains(skill, "`"+name+"`") {
			t.Errorf("the guide does not mention the tool %s", name)
		}
	}
	known := strings.Join(mcp.Names(), " ")
	for _, m := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(skill, -1) {
		if !strings.Contains(known, m[1]) {
			t.Errorf("there is no tool %s", m[1])
		}
	}
}

func wordsOf(t *testing.T, line string) (list []string) {
	t.Helper()
	f, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatal(err)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		var b strings.Builder
		for _, p := range w.Parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			}
		}
		list = append(list, b.String())
		return false
	})
	return list
}
