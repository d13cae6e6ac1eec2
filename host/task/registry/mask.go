package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"cotty/host/task/access"
	"cotty/host/task/store"
)

// shortestSecret is what is masked: shorter ones are in half of all words.
const shortestSecret = 4

// Masker takes secrets out of text.
type Masker struct{ r *strings.Replacer }

// NewMasker masks values as they are, line by line where they have several, and as
// they are in JSON, in URLs and in base64.
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
			text, _ := json.Marshal(l) // texts always can be
			forms = append(
				forms, l, string(text[1:len(text)-1]), url.QueryEscape(l), url.PathEscape(l),
				base64.StdEncoding.EncodeToString([]byte(l)), base64.RawURLEncoding.EncodeToString([]byte(l)),
			)
		}
	}
	forms = slices.DeleteFunc(forms, func(s string) bool { return len(s) < shortestSecret })
	slices.SortFunc(forms, byLength)
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

// Text is a text without secrets. A nil Masker changes nothing.
func (m *Masker) Text(s string) string {
	if m == nil || m.r == nil {
		return s
	}
	return m.r.Replace(s)
}

// Log puts lines in the log of a version's agent, without the version's secrets.
// Their agent and version are set.
func (r *Registry) Log(ctx context.Context, l Launch, entries ...store.LogEntry) error {
	for i := range entries {
		entries[i].AgentID, entries[i].VersionID = l.Agent.ID, l.Version.ID
		entries[i].Text = l.Masker.Text(entries[i].Text)
	}
	return r.store.AddLogs(ctx, entries)
}

// Logs gives lines of an agent's log, to somebody who may read the agent and, of
// tasks' lines, the task (U106). Agent and Version may be named in any way. The
// number of the last line looked at is where a follower goes on.
func (r *Registry) Logs(ctx context.Context, who access.Principal, f store.LogFilter) (lines []store.LogEntry, last int64, err error) {
	a, err := r.agent(ctx, who, access.Read, f.Agent)
	if err != nil {
		return nil, 0, err
	}
	f.Agent = a.ID
	if f.Version != "" {
		v, err := r.versionOf(ctx, who, a.ID, f.Version)
		if err != nil {
			return nil, 0, err
		}
		f.Version = v.ID
	}
	if f.Task != "" {
		t, err := r.store.Task(ctx, f.Task)
		if err == nil {
			f.Task = t.ID
		} else if !strings.HasPrefix(f.Task, "tsk_") { // one that was deleted has lines still
			return nil, 0, err
		}
	}
	all, err := r.store.Logs(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	last = f.After
	allowed := map[string]bool{"": true}
	for _, e := range all {
		last = max(last, e.N)
		may, known := allowed[e.TaskID]
		if !known {
			may = r.mayReadLog(ctx, who, e.TaskID)
			allowed[e.TaskID] = may
		}
		if may {
			lines = append(lines, e)
		}
	}
	return lines, last, nil
}

// mayReadLog says whether somebody may read a task's lines: those of tasks that
// are gone are the operator's.
func (r *Registry) mayReadLog(ctx context.Context, who access.Principal, task string) bool {
	if who.Kind == access.Operator {
		return true
	}
	t, err := r.store.Task(ctx, task)
	return err == nil && t.ID == task && access.MayTask(who, access.Read, ParentsOf(t)) == access.Allowed
}
