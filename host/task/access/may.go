package access

import "slices"

type PrincipalKind string

const (
	Operator PrincipalKind = "operator" // the owner of the host
	Key      PrincipalKind = "key"      // an API key
	TaskKind PrincipalKind = "task"     // what runs inside of a task
)

// Principal is who asks. The zero value is nobody and may nothing.
type Principal struct {
	Kind   PrincipalKind
	ID     string  // of the key or the task; for the operator of no meaning
	Scopes []Scope // of a key
	// NeverYes: it is a token of the host's that may not let agents' tools run.
	NeverYes bool
	// Person is who a hub says that is, for people to read: it gives nothing.
	Person string
}

// TheOperator is the owner of the host.
func TheOperator() Principal { return Principal{Kind: Operator, ID: "operator"} }

// String names the principal in records: "operator", "key:ID", "task:ID".
func (p Principal) String() string {
	if p.Kind == Operator {
		return string(Operator)
	}
	return string(p.Kind) + ":" + p.ID
}

// Named is the principal for people: who a hub says it is, too.
func (p Principal) Named() string {
	if p.Person == "" {
		return p.String()
	}
	return p.Person + " (" + p.String() + ")"
}

// Decision is an answer. Its zero value refuses.
type Decision int

const (
	Hidden  Decision = iota // as if it were not there: 404
	Denied                  // it is there and this may not be done: 403
	Allowed                 // go on
)

// May decides what a principal may do with an agent or a project.
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

// MayCreate decides who may make a new agent or project: an editor of all of the
// kind.
func MayCreate(p Principal, kind Kind) Decision { return max(May(p, Update, kind, All), Denied) }

// Parents are what a task's access derives from (U82, U85).
type Parents struct {
	Task    string // its id
	Agent   string // id of the agent
	Project string // of its filesystem or workspace; "" when it has none
	// Private: its workspace is a directory of the operator's that belongs to no
	// project, or it has no sandbox; nobody else may see the task.
	Private bool
	Creator string // Principal.String of who created it
}

// needs is what a verb on a task takes of its agent and of its project.
var needs = map[Verb][2]Verb{
	Discover: {Discover, Discover},
	Read:     {Read, Read},
	Run:      {Run, Read},
	Report:   {Run, Read},
	Update:   {Update, Read}, // rename, migrate
	Delete:   {Update, Update},
	Answer:   {Run, Update}, // a yes lets the agent change the project's files
}

// MayTask decides what a principal may do with a task: both of its parents must
// allow it (U82). Who created a task may also update and delete it, and answer its
// questions, for as long as he may run it. A task may read itself and report: what its
// agent asks it never answers.
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
