package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/store"
	"tandemux/internal/config/strict"
)

// DefinitionFile is the name of the definition's file.
const DefinitionFile = "tandemux-agent.toml"

// Bounds of a definition.
const (
	maxWords = 100
	maxWord  = 4096
	maxText  = 2000
	// MaxHookTime bounds Hooks.Timeout, hookTime is its default.
	MaxHookTime = 24 * time.Hour
	hookTime    = 10 * time.Minute
)

// Definition describes an agent (U35).
type Definition struct {
	Name        string `json:"name" toml:"name"`
	Description string `json:"description,omitempty" toml:"description"`
	// Command starts an agent that speaks the Agent Client Protocol. Its first word is a program in
	// PATH, an absolute path, or, with "./" before it, one of the definition's files. Args is appended
	// to it.
	Command []string `json:"command,omitempty" toml:"command" doc:"Starts an agent that speaks ACP"`
	Args    []string `json:"args,omitempty" toml:"args"`
	// Env names variables to take from the host's environment, if they are set there. Variables has
	// variables and their values.
	Env       []string          `json:"env,omitempty" toml:"env" doc:"Variables to take from the host's environment"`
	Variables map[string]string `json:"variables,omitempty" toml:"variables"`
	Sandbox   Sandbox           `json:"sandbox,omitzero" toml:"sandbox"`
	// Hooks are run instead of an ACP agent, or in addition (U41–U43).
	Hooks Hooks `json:"hooks,omitzero" toml:"hooks"`
	// Deployment has the rules of each environment (U28, U35).
	Deployment map[string]Deployment `json:"deployment,omitempty" toml:"deployment" doc:"By environment: production, preview"`
	// Ignore has patterns (path.Match) of files that a deploy leaves out; they match the path or its
	// last part.
	Ignore []string `json:"ignore,omitempty" toml:"ignore"`
	// Confirm says which of an ACP agent's questions are answered with yes: ask, reads or all; empty
	// means ask.
	Confirm string `json:"confirm,omitempty" toml:"confirm" enum:"ask,reads,all"`
}

// Sandbox has an agent's settings of its sandbox.
type Sandbox struct {
	// Network is shared, the default, or none.
	Network string `json:"network,omitempty" toml:"network" enum:"shared,none"`
	// Memory bounds the task's memory, in bytes or with the units K, M, G; empty means no bound.
	Memory string `json:"memory,omitempty" toml:"memory"`
	// Processes bounds the number of the task's processes; 0 means no bound.
	Processes int `json:"processes,omitempty" toml:"processes"`
	// Folders are directories of the home directory of which a task has its own copy, in addition to
	// .claude and .codex (U6).
	Folders []string `json:"folders,omitempty" toml:"folders"`
}

// Hooks are programs that get JSON on stdin.
type Hooks struct {
	OnCreate []string `json:"on_create,omitempty" toml:"on_create"`
	OnEvent  []string `json:"on_event,omitempty" toml:"on_event"`
	OnCancel []string `json:"on_cancel,omitempty" toml:"on_cancel"`
	// Timeout is how long a hook may run, such as "90s"; empty means ten minutes.
	Timeout string `json:"timeout,omitempty" toml:"timeout"`
}

// Deployment has the rules of one environment.
type Deployment struct {
	// Sticky says that running tasks stay on their version when another becomes active; nil means only
	// in production (U30).
	Sticky *bool `json:"sticky,omitempty" toml:"sticky"`
}

func ParseDefinition(text []byte) (Definition, error) {
	var d Definition
	if len(text) > store.MaxSource {
		return d, store.Errorf(store.TooLarge, "%s has %d bytes, more than %d", DefinitionFile, len(text), store.MaxSource)
	}
	if err := strict.Decode(text, &d, "a definition"); err != nil {
		return d, store.Errorf(store.Invalid, "%s: %w", DefinitionFile, err)
	}
	return d, d.Check()
}

// Check returns an error if the definition is not valid.
func (d Definition) Check() error {
	if err := access.CheckName("an agent", d.Name); err != nil {
		return store.Errorf(store.Invalid, "%w", err)
	}
	if len(d.Description) > maxText {
		return store.Errorf(store.Invalid, "the description has %d bytes, more than %d", len(d.Description), maxText)
	}
	if len(d.Command) == 0 && len(d.Hooks.OnEvent) == 0 {
		return store.Errorf(store.Invalid, "the agent has neither a command, for one that speaks ACP, nor hooks.on_event")
	}
	if len(d.Command) > 0 && len(d.Hooks.OnEvent) > 0 {
		return store.Errorf(store.Invalid, "the agent has a command and hooks.on_event: events go to one of them")
	}
	all := d.programs()
	all["args"], all["ignore"] = d.Args, d.Ignore
	for what, words := range all {
		if err := checkWords(what, words); err != nil {
			return err
		}
	}
	if len(d.Args) > 0 && len(d.Command) == 0 {
		return store.Errorf(store.Invalid, "args need a command")
	}
	if err := d.checkVariables(); err != nil {
		return err
	}
	if _, err := d.Hooks.Time(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "ask", "reads", "all"}, d.Confirm) {
		return store.Errorf(store.Invalid, "confirm is ask, reads or all, not %.40q", d.Confirm)
	}
	for env := range d.Deployment {
		if env != Production && env != Preview {
			return store.Errorf(store.Invalid, "deployment.%.40s: the environments are %s and %s", env, Production, Preview)
		}
	}
	return d.Sandbox.check()
}

// programs returns the commands of the definition, by their names in it.
func (d Definition) programs() map[string][]string {
	return map[string][]string{"command": d.Command, "hooks.on_create": d.Hooks.OnCreate, "hooks.on_event": d.Hooks.OnEvent, "hooks.on_cancel": d.Hooks.OnCancel}
}

// modest returns an error if the definition asks for what only the operator may use: the host's
// environment, or a program by its path.
func (d Definition) modest() error {
	if len(d.Env) > 0 {
		return store.Errorf(store.Forbidden, "only the operator may take variables from the host's environment (env); `variables` and the environment's own are yours")
	}
	for what, words := range d.programs() {
		if len(words) > 0 && strings.Contains(words[0], "/") && !strings.HasPrefix(words[0], "./") {
			return store.Errorf(store.Forbidden, "%s: only the operator may name a program by its path on the host; bring it along, as ./PROGRAM, or name one of the PATH", what)
		}
	}
	return nil
}

func checkWords(what string, words []string) error {
	if len(words) > maxWords {
		return store.Errorf(store.Invalid, "%s has %d words, more than %d", what, len(words), maxWords)
	}
	for i, w := range words {
		switch {
		case len(w) > maxWord:
			return store.Errorf(store.Invalid, "a word of %s has %d bytes, more than %d", what, len(w), maxWord)
		case strings.ContainsRune(w, 0):
			return store.Errorf(store.Invalid, "a word of %s has a NUL", what)
		case i == 0 && w == "":
			return store.Errorf(store.Invalid, "%s begins with an empty word", what)
		}
	}
	return nil
}

func (d Definition) checkVariables() error {
	if len(d.Env)+len(d.Variables) > store.MaxVariables {
		return store.Errorf(store.Invalid, "the agent has %d variables, more than %d", len(d.Env)+len(d.Variables), store.MaxVariables)
	}
	for _, name := range slices.Concat(d.Env, slices.Collect(maps.Keys(d.Variables))) {
		if err := CheckVariable(name, d.Variables[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s Sandbox) check() error {
	if !slices.Contains([]string{"", "shared", "none"}, s.Network) {
		return store.Errorf(store.Invalid, "sandbox.network is shared or none, not %.40q", s.Network)
	}
	if _, err := s.MemoryBytes(); err != nil {
		return err
	}
	if s.Processes < 0 || s.Processes > 1_000_000 {
		return store.Errorf(store.Invalid, "sandbox.processes is %d; give a count, or 0 for no limit", s.Processes)
	}
	if len(s.Folders) > 20 {
		return store.Errorf(store.Invalid, "sandbox.folders has %d, more than 20", len(s.Folders))
	}
	for _, f := range s.Folders {
		if f == "" || f == "." || path.Clean(f) != f || path.IsAbs(f) || strings.HasPrefix(f, "..") || len(f) > 200 || strings.ContainsFunc(f, func(c rune) bool { return c < ' ' }) {
			return store.Errorf(store.Invalid, "sandbox.folders: %.60q is no directory below the home directory, such as .gemini", f)
		}
	}
	return nil
}

// MemoryBytes returns the bound in bytes, or 0.
func (s Sandbox) MemoryBytes() (int64, error) {
	if s.Memory == "" {
		return 0, nil
	}
	n, err := budget.ParseBytes(s.Memory)
	if err != nil || n == 0 {
		return 0, store.Errorf(store.Invalid, "sandbox.memory is %.40q; give bytes such as 512M or 2G", s.Memory)
	}
	return n, nil
}

// Time returns how long a hook may run.
func (h Hooks) Time() (time.Duration, error) {
	if h.Timeout == "" {
		return hookTime, nil
	}
	t, err := time.ParseDuration(h.Timeout)
	if err != nil || t <= 0 || t > MaxHookTime {
		return 0, store.Errorf(store.Invalid, "hooks.timeout is %.40q; give a time such as 90s, up to %v", h.Timeout, MaxHookTime)
	}
	return t, nil
}

// ACP reports whether the agent speaks the Agent Client Protocol. Otherwise it has hooks.
func (d Definition) ACP() bool { return len(d.Command) > 0 }

// sticky returns the setting of an environment.
func (d Definition) sticky(environment string) bool {
	if s := d.Deployment[environment].Sticky; s != nil {
		return *s
	}
	return environment == Production
}

// Encode returns the definition as JSON, always the same, and the hash of that and of its files' hash.
func (d Definition) Encode(code string) (raw json.RawMessage, hash string, err error) {
	raw, err = json.Marshal(d)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(append(append([]byte{}, raw...), "\n"+code...))
	return raw, hex.EncodeToString(sum[:]), nil
}

// DecodeDefinition decodes the definition of a version.
func DecodeDefinition(raw json.RawMessage) (d Definition, err error) {
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("read the definition of a version: %w", err)
	}
	return d, nil
}
