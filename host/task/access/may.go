package access

import "slices"

type PrincipalKind string

const (
	Operator PrincipalKind = "operator" // the owner of the host
	Key      PrincipalKind = "key"      // an API key
	TaskKind PrincipalKind = "task"     // what runs inside of a task
)

// Principal is who makes a request. The zero value may do nothing.
type Principal struct {
	Kind   PrincipalKind
	ID     string  // of the key or the task; unused for the operator
	Scopes []Scope // of a key
	// NeverYes says that it is a host's token that may not allow agents' tool calls.
	NeverYes bool
	// Person is who makes the request according to a hub. It is for people to read and gives no
	// rights.
	Person string
}

// TheOperator returns the owner of the host.
func TheOperator() Principal { return Principal{Kind: Operator, ID: "operator"} }

// String returns the principal as records name it: "operator", "key:ID" or "task:ID".
func (p Principal) String() string {
	if p.Kind == Operator {
		return string(Operator)
	}
	return string(p.Kind) + ":" + p.ID
}

// Named returns the principal as people read it, with the Person.
func (p Principal) Named() string {
	if p.Person == "" {
		return p.String()
	}
	return p.Person + " (" + p.String() + ")"
}

// Decision is the answer to whether something may be done. The zero value refuses.
type Decision int

const (
	Hidden Decision = iota // as if it did not exist: 404
	Denied                 // it exists, but this may not be done: 403
	Allowed
)

// May decides whether p may do verb with an agent or a project.
func May(p Principal, verb Verb, kind Kind, id string) Decision {
	if p.Kind == Operator {
		return Allowed
	}
	if p.Kind != Key {
		return Hidden
	}
	answer := Hidden
	for _, s := range p.Scopes {
		if s.Kind != kind || s.ID != All && s.ID != id {
			continue
		}
		verbs := grants[kind][s.Role]
		if slices.Contains(verbs, verb) {
			return Allowed
		}
		if len(verbs) > 0 {
			answer = Denied
		}
	}
	return answer
}

// MayCreate decides whether p may create an agent or project, for which it must be an editor of "*".
func MayCreate(p Principal, kind Kind) Decision { return max(May(p, Update, kind, All), Denied) }

// Parents is what access to a task depends on (U82, U85).
type Parents struct {
	Task    string // its id
	Agent   string // the agent's id
	Project string // the project of its filesystem or workspace; "" if there is none
	// Private says that the workspace is a directory of the operator's without a project, or that the
	// task has no sandbox. Only the operator may see such a task.
	Private bool
	Creator string // Principal.String of its creator
}

// needs maps a verb on a task to the verbs that are needed on its agent and on its project.
var needs = map[Verb][2]Verb{
	Discover: {Discover, Discover},
	Read:     {Read, Read},
	Run:      {Run, Read},
	Report:   {Run, Read},
	Update:   {Update, Read}, // rename, migrate
	Delete:   {Update, Update},
	Answer:   {Run, Update}, // a yes lets the agent change the project's files
}

// MayTask decides whether p may do verb with a task: its agent and its project must both allow it
// (U82). The creator of a task may also update and delete it, and answer its questions, while he may
// run it. A task may read itself and report, but never answer its agent's questions.
func MayTask(p Principal, verb Verb, t Parents) Decision {
	switch p.Kind {
	case Operator:
		return Allowed
	case TaskKind:
		switch {
		case p.ID != t.Task || p.ID == "":
			return Hidden
		case verb == Read || verb == Report || verb == Discover:
			return Allowed
		}
		return Denied
	case Key:
	default:
		return Hidden
	}
	if t.Private {
		return Hidden
	}
	if t.Creator == p.String() && (verb == Update || verb == Delete || verb == Answer) {
		verb = Run
	}
	need, ok := needs[verb]
	if !ok {
		return Hidden
	}
	answer := May(p, need[0], Agent, t.Agent)
	if t.Project != "" {
		answer = min(answer, May(p, need[1], Project, t.Project))
	}
	return answer
}
