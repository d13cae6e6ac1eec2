package access

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind is the kind of resource that a scope is about (U89).
type Kind string

const (
	Agent   Kind = "agent"
	Project Kind = "project"
)

// Role says what a scope allows (U90).
type Role string

const (
	Discoverer Role = "discoverer" // may see that it exists
	Viewer     Role = "viewer"     // may also read it
	Executor   Role = "executor"   // a viewer who may also run the agent; an older name
	Editor     Role = "editor"     // may also run and change it
	Owner      Role = "owner"      // may also delete it
)

// Verb is something to do with a resource.
type Verb string

const (
	Discover Verb = "discover"
	Read     Verb = "read"
	Run      Verb = "run" // begin tasks, send to them, cancel them
	Update   Verb = "update"
	Delete   Verb = "delete"
	Report   Verb = "report" // for a task: write messages, state, progress
	Answer   Verb = "answer" // a question of a task's agent
)

// grants lists what each role may do with each kind. Projects can't be run; the editor of a project
// may write its filesystems.
var grants = map[Kind]map[Role][]Verb{
	Agent: {
		Discoverer: {Discover},
		Viewer:     {Discover, Read},
		Executor:   {Discover, Read, Run},
		Editor:     {Discover, Read, Run, Update},
		Owner:      {Discover, Read, Run, Update, Delete},
	},
	Project: {
		Discoverer: {Discover},
		Viewer:     {Discover, Read},
		Editor:     {Discover, Read, Update},
		Owner:      {Discover, Read, Update, Delete},
	},
}

// Scope gives a role on a resource. ID is that of an agent or project, or All.
type Scope struct {
	Kind Kind   `json:"resource_type"`
	ID   string `json:"resource_id"`
	Role Role   `json:"role"`
}

// All is the ID of a scope on everything of a kind, including what is created later.
const All = "*"

// MaxScopes bounds the scopes of one key.
const MaxScopes = 100

// Check returns an error if the scope is not valid.
func (s Scope) Check() error {
	roles, ok := grants[s.Kind]
	if !ok {
		return fmt.Errorf("a scope is about %s, not about %q", either(slices.Sorted(maps.Keys(grants))), s.Kind)
	}
	if _, ok := roles[s.Role]; !ok {
		return fmt.Errorf("the roles on %s are %s, not %q", article(s.Kind), either(slices.Sorted(maps.Keys(roles))), s.Role)
	}
	if s.ID == "" {
		return fmt.Errorf("a scope needs the id of %s, or %q for all", article(s.Kind), All)
	}
	return nil
}

// String returns the form that ParseScope reads: KIND:ID:ROLE.
func (s Scope) String() string { return string(s.Kind) + ":" + s.ID + ":" + string(s.Role) }

// ParseScope reads KIND:ID:ROLE, such as agent:*:executor, and checks it. ID may be a name, which the
// caller has to resolve.
func ParseScope(text string) (Scope, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return Scope{}, fmt.Errorf("the scope %q is not KIND:ID:ROLE, such as agent:*:executor", text)
	}
	s := Scope{Kind: Kind(parts[0]), ID: parts[1], Role: Role(parts[2])}
	return s, s.Check()
}

func article(k Kind) string {
	if k == Agent {
		return "an agent"
	}
	return "a " + string(k)
}

func either[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// MaxName bounds a name, in bytes.
const MaxName = 40

// CheckName returns an error unless name is valid for an agent, project, filesystem, key or task:
// lowercase letters, digits, - and _, of which the first is a letter or digit (U94).
func CheckName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s needs a name", what)
	case len(name) > MaxName:
		return fmt.Errorf("the name of %s has %d characters, more than %d", what, len(name), MaxName)
	case name[0] == '-' || name[0] == '_':
		return fmt.Errorf("the name %q of %s does not begin with a letter or digit", name, what)
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return fmt.Errorf("the name %q of %s has other characters than lowercase letters, digits, - and _", name, what)
		}
	}
	return nil
}
