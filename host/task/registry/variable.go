package registry

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Masked is shown instead of a secret.
const Masked = "********"

// maxVariableName bounds a variable's name, in bytes.
const maxVariableName = 128

// CheckVariable returns an error unless a variable's name and value are valid.
func CheckVariable(name, value string) error {
	switch {
	case name == "" || len(name) > maxVariableName || strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_'
	}) || name[0] >= '0' && name[0] <= '9':
		return store.Errorf(store.Invalid, "%.60q is no name of a variable: letters, digits and _, not beginning with a digit", name)
	case strings.HasPrefix(name, "TANDEMUX"):
		return store.Errorf(store.Invalid, "the variables that begin with TANDEMUX are set by tandemux, %s too", name)
	case len(value) > store.MaxValue:
		return store.Errorf(store.TooLarge, "the value of %s has %d bytes, more than %d", name, len(value), store.MaxValue)
	case strings.ContainsRune(value, 0):
		return store.Errorf(store.Invalid, "the value of %s has a NUL", name)
	}
	return nil
}

// Variable is a variable as it may be shown (U96).
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value" doc:"Masked when it is secret"`
	Secret bool   `json:"secret"`
	// Pending says that the active versions don't have this value yet.
	Pending bool      `json:"pending,omitempty" doc:"It reaches tasks with the next deploy"`
	Updated time.Time `json:"updated_at"`
}

// environmentOf returns an agent and environment if who may do verb with the agent.
func (r *Registry) environmentOf(ctx context.Context, who access.Principal, verb access.Verb, agent, environment string) (store.Agent, string, error) {
	a, err := r.agent(ctx, who, verb, agent)
	if err == nil {
		environment, err = ParseEnvironment(environment)
	}
	return a, environment, err
}

// SetVariables sets variables of an environment, either all or, on an error, none. Tasks get them with
// the next deploy.
func (r *Registry) SetVariables(ctx context.Context, who access.Principal, agent, environment string, vars []store.Variable) error {
	a, environment, err := r.environmentOf(ctx, who, access.Update, agent, environment)
	if err != nil {
		return err
	}
	for _, v := range vars {
		if err := CheckVariable(v.Name, v.Value); err != nil {
			return err
		}
		if v.Secret && v.Value == "" {
			return store.Errorf(store.Invalid, "the secret %s is empty", v.Name)
		}
	}
	return r.store.SetVariables(ctx, a.ID, environment, vars)
}

// Variables lists the variables of an environment. Secrets are masked for everybody.
func (r *Registry) Variables(ctx context.Context, who access.Principal, agent, environment string) ([]Variable, error) {
	a, environment, err := r.environmentOf(ctx, who, access.Read, agent, environment)
	if err != nil {
		return nil, err
	}
	vars, err := r.store.Variables(ctx, a.ID, environment)
	if err != nil {
		return nil, err
	}
	deployed, err := r.deployedVariables(ctx, a.ID, environment)
	if err != nil {
		return nil, err
	}
	shown := make([]Variable, len(vars))
	for i, v := range vars {
		d, ok := deployed[v.Name]
		shown[i] = Variable{Name: v.Name, Value: v.Value, Secret: v.Secret, Updated: v.Updated}
		shown[i].Pending = !ok || d.Value != v.Value || d.Secret != v.Secret
		if v.Secret {
			shown[i].Value = Masked
		}
	}
	return shown, nil
}

// deployedVariables returns the variables of the version that was activated last in an environment, or
// none.
func (r *Registry) deployedVariables(ctx context.Context, agent, environment string) (map[string]store.Variable, error) {
	v, err := r.store.Newest(ctx, agent, environment)
	if errors.Is(err, store.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := r.store.Snapshot(ctx, v.SnapshotID)
	vars := make(map[string]store.Variable, len(all))
	for _, v := range all {
		vars[v.Name] = v
	}
	return vars, err
}

// DeleteVariable removes a variable. Versions that were deployed with it keep it.
func (r *Registry) DeleteVariable(ctx context.Context, who access.Principal, agent, environment, name string) error {
	a, environment, err := r.environmentOf(ctx, who, access.Update, agent, environment)
	if err != nil {
		return err
	}
	return r.store.DeleteVariable(ctx, a.ID, environment, name)
}

// Launch has all that is needed to start an agent.
type Launch struct {
	Agent      store.Agent
	Version    store.Version
	Definition Definition
	// CodeDir is the directory with the definition's files, or "".
	CodeDir string
	// Env is the agent's environment, NAME=VALUE, without what the sandbox sets. It contains secrets,
	// and may only be used for the child's environment.
	Env    []string
	Masker *Masker
	// Trusted says that the operator made the version. Other versions run only in a sandbox, which
	// shows no files of the host that they name.
	Trusted bool
}

// Launch returns what a version is started with. Variables of the snapshot override those of the
// definition, which override those of the host. It is for the host's own use and does not check
// access.
func (r *Registry) Launch(ctx context.Context, versionID string) (Launch, error) {
	v, err := r.store.Versions.Get(ctx, versionID)
	if err != nil {
		return Launch{}, err
	}
	l := Launch{Version: v, CodeDir: r.CodeDir(v.Code), Trusted: v.Author == access.TheOperator().String() || v.Author == configured}
	if l.Agent, err = r.store.Agents.Find(ctx, v.AgentID); err != nil {
		return l, err
	}
	if l.Definition, err = DecodeDefinition(v.Definition); err != nil {
		return l, err
	}
	if l.CodeDir != "" && !isThere(l.CodeDir) {
		return l, store.Errorf(store.Invalid, "the files of version %d of %s are gone from %s; deploy it again", v.Number, l.Agent.Name, l.CodeDir)
	}
	vars, err := r.store.Snapshot(ctx, v.SnapshotID)
	if err != nil {
		return l, err
	}
	env := map[string]string{}
	for _, name := range l.Definition.Env {
		if value := r.o.Getenv(name); value != "" {
			env[name] = value
		}
	}
	maps.Copy(env, l.Definition.Variables)
	var secrets []string
	for _, v := range vars {
		env[v.Name] = v.Value
		if v.Secret {
			secrets = append(secrets, v.Value)
		}
	}
	// What comes from the host's environment may well be secret.
	for _, name := range l.Definition.Env {
		if looksSecret(name) && env[name] != "" {
			secrets = append(secrets, env[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		l.Env = append(l.Env, name+"="+env[name])
	}
	l.Masker = NewMasker(secrets)
	return l, nil
}

// Argv returns the agent's command line, with its files in the directory codeAt.
func (l Launch) Argv(codeAt string) []string {
	return HookArgv(slices.Concat(l.Definition.Command, l.Definition.Args), codeAt)
}

// HookArgv returns the command line of a hook, with the definition's files in the directory codeAt.
func HookArgv(words []string, codeAt string) []string {
	words = slices.Clone(words)
	if len(words) > 0 && codeAt != "" {
		if own, ok := strings.CutPrefix(words[0], "./"); ok {
			words[0] = strings.TrimSuffix(codeAt, "/") + "/" + own
		}
	}
	return words
}

// looksSecret guesses from a variable's name whether it is secret.
func looksSecret(name string) bool {
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"}, func(part string) bool {
		return strings.Contains(strings.ToUpper(name), part)
	})
}

// shortestSecret is the shortest text that is masked, in bytes: shorter ones are part of too many
// words.
const shortestSecret = 4

// Masker replaces secrets in texts.
type Masker struct{ r *strings.Replacer }

// NewMasker returns a Masker of values. It masks a value as it is, each of its longer lines, and the
// forms that they have in JSON, in URLs and in base64.
func NewMasker(secrets []string) *Masker {
	var forms []string
	for _, s := range secrets {
		lines := []string{s}
		if strings.Contains(s, "\n") {
			for _, l := range strings.Split(s, "\n") {
				if l = strings.TrimSpace(l); len(l) >= 2*shortestSecret {
					lines = append(lines, l)
				}
			}
		}
		for _, l := range lines {
			text, _ := json.Marshal(l) // texts can always be encoded
			forms = append(
				forms, l, string(text[1:len(text)-1]), url.QueryEscape(l), url.PathEscape(l),
				base64.StdEncoding.EncodeToString([]byte(l)), base64.RawURLEncoding.EncodeToString([]byte(l)),
			)
		}
	}
	forms = slices.DeleteFunc(forms, func(s string) bool { return len(s) < shortestSecret })
	// Longer ones come first, so that a secret that contains another one is masked as a whole.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	forms = slices.Compact(forms)
	if len(forms) == 0 {
		return &Masker{}
	}
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, Masked)
	}
	return &Masker{strings.NewReplacer(pairs...)}
}

// Text returns s without secrets. A nil Masker changes nothing.
func (m *Masker) Text(s string) string {
	if m == nil || m.r == nil {
		return s
	}
	return m.r.Replace(s)
}
