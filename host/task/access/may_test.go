package access

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

// random is a principal with scopes on few resources, so that they meet.
func random(r *rand.Rand) Principal {
	p := Principal{Kind: Key, ID: "k"}
	roles := []Role{Discoverer, Viewer, Executor, Editor, Owner}
	for range r.IntN(4) {
		s := Scope{Kind: []Kind{Agent, Project}[r.IntN(2)], ID: []string{"a", "b", All}[r.IntN(3)], Role: roles[r.IntN(len(roles))]}
		if s.Check() == nil {
			p.Scopes = append(p.Scopes, s)
		}
	}
	return p
}

var verbs = []Verb{Discover, Read, Run, Update, Delete, Report, Answer}

// TestMore tries rules that hold for all keys: another scope takes nothing away; a
// task allows no more than its parents do, and shows itself only where both of them
// do; what is the operator's is nobody's (U82, U90).
func TestMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		p, more := random(r), random(r)
		both := p
		both.Scopes = append(append([]Scope{}, p.Scopes...), more.Scopes...)
		verb := verbs[r.IntN(len(verbs))]
		task := Parents{Task: "t", Agent: []string{"a", "b"}[r.IntN(2)], Project: []string{"", "a", "b"}[r.IntN(3)], Creator: []string{"operator", p.String(), "key:x"}[r.IntN(3)]}
		if May(both, verb, Agent, "a") < May(p, verb, Agent, "a") || MayTask(both, verb, task) < MayTask(p, verb, task) {
			t.Fatalf("%v may %s less than %v, of %+v", both, verb, p, task)
		}
		got := MayTask(p, verb, task)
		if got == Allowed && verb != Discover && May(p, Read, Agent, task.Agent) != Allowed {
			t.Fatalf("%v may %s a task whose agent it may not read: %+v", p, verb, task)
		}
		if got != Hidden && (May(p, Discover, Agent, task.Agent) != Allowed || task.Project != "" && May(p, Discover, Project, task.Project) != Allowed) {
			t.Fatalf("%v sees a task (%d) one of whose parents it doesn't: %+v", p, got, task)
		}
		if got == Allowed && verb != Discover && task.Project != "" && May(p, Read, Project, task.Project) != Allowed {
			t.Fatalf("%v may %s a task whose project it may not read: %+v", p, verb, task)
		}
		if MayCreate(p, Agent) == Allowed && May(p, Update, Agent, "new") != Allowed {
			t.Fatalf("%v may create what it may not update", p)
		}
		task.Private = true
		if MayTask(p, verb, task) != Hidden {
			t.Fatalf("%v sees what is the operator's", p)
		}
	}
}

func TestStrings(t *testing.T) {
	for want, p := range map[string]Principal{"operator": TheOperator(), "key:k": {Kind: Key, ID: "k"}, "task:t": {Kind: TaskKind, ID: "t"}} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for text, words := range map[string]string{
		"agent:x:admin": "the roles on an agent are discoverer, editor, executor, owner or viewer", "org:x:admin": "about agent or project", "project::owner": `the id of a project, or "*" for all`,
	} {
		if _, err := ParseScope(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", text, err, words)
		}
	}
}

// TestRolesAreWritten: docs/deploying.md has the roles, and which kinds have which.
func TestRolesAreWritten(t *testing.T) {
	page, err := os.ReadFile("../../../docs/deploying.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n| role | on an agent | on a project |\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) != max(len(grants[Agent]), len(grants[Project])) {
		t.Errorf("docs/deploying.md has %d roles", len(rows))
	}
	for _, row := range rows {
		for i, kind := range []Kind{Agent, Project} {
			if _, has := grants[kind][Role(row[1])]; has != (row[2+i] != "–") {
				t.Errorf("docs/deploying.md says of the %s of %s: %s", row[1], article(kind), row[2+i])
			}
		}
	}
}
