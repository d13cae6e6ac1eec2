package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/hub/audit"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// keeper keeps secrets in files of a machine's.
func keeper(m *hosttest.Machine) func(name, secret string) (path string) {
	return func(name, secret string) string {
		path := filepath.Join(m.Dir, name)
		m.Must(os.WriteFile(path, []byte(strings.TrimSpace(secret)+"\n"), 0o600))
		return path
	}
}

// TestAnswerNamed: who answers what a task's agent asks is named in the task's stream, in its
// log on the host, and in the hub's audit, which calls operations by their names; who lacks
// the scope is refused, and that is noted, too.
func TestAnswerNamed(t *testing.T) {
	soak.Long(t, "a hub, a host and several people")
	t.Parallel()
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	_, addr := runHub(t, home)
	start(t, build, home.Tandemux("hub", "invite", "build"), "join")
	home.Eventually("the host is here", func() bool { return fleet(home)["build"].Present })
	keep := keeper(home)
	ann := keep("ann", home.Tandemux("hub", "token", "new", "ann", "--scope", "admin"))
	bobs := strings.TrimSpace(home.Tandemux("hub", "token", "new", "bob", "--scope", "session", "--scope", "terminal:read"))
	at := []string{"--host", "ws://" + addr, "--token-file", ann}
	run := func(args ...string) string { home.Helper(); return home.Tandemux(append(at, args...)...) }
	self, err := os.Executable()
	home.Must(err)
	script := filepath.Join(home.Dir, "script")
	home.Must(os.WriteFile(script, []byte(`prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"Run make","kind":"execute"},"options":[{"optionId":"once","name":"Allow once","kind":"allow_once"},{"optionId":"not","name":"Reject","kind":"reject_once"}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
show p
`), 0o600))
	run("task", "new", "--no-sandbox", "--name", "asks", "--agent-command", self+" agent "+script, "-m", "go")
	var now task.Present
	home.Eventually("it asks", func() bool {
		out, err := home.Command(append(at, "task", "show", "asks", "--json")...).Output()
		return err == nil && json.Unmarshal(out, &now) == nil && len(now.Questions) == 1
	})
	ask := func(method, path, secret, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+"/api/v1/tasks/"+path, strings.NewReader(body))
		home.Must(err)
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		home.Must(err)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	yes := `{"question_id":"` + now.Questions[0].ID + `","answer":"yes"}`
	if status, text := ask("POST", now.ID+"/answers", bobs, yes); status != http.StatusForbidden || !strings.Contains(text, "approve") {
		t.Errorf("bob's answer: %d %s", status, text)
	}
	run("task", "answer", "asks", "yes", "--question", now.Questions[0].ID)
	secret, err := os.ReadFile(ann)
	home.Must(err)
	status, stream := ask("GET", now.ID+"/stream", strings.TrimSpace(string(secret)), "")
	if status != http.StatusOK || !strings.Contains(stream, `"answer":"Allow once","by":"token:ann"`) {
		t.Errorf("the stream does not say who answered: %d %s", status, stream)
	}
	log, err := os.ReadFile(filepath.Join(build.Dir, ".local", "state", "tandemux", "host.log"))
	if err != nil || !strings.Contains(string(log), "answered by token:ann (operator)") {
		t.Errorf("the host's log does not say who answered: %s", log)
	}
	run("task", "cancel", "asks")
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(home.Tandemux("hub", "audit", "--json")), "\n") {
		var r audit.Record
		home.Must(json.Unmarshal([]byte(line), &r))
		if r.Host == "" {
			got = append(got, strings.Join([]string{r.Who, r.What, strings.ReplaceAll(r.On, now.ID, "ID"), r.Outcome}, " "))
		}
	}
	want := "operator host invite build done, operator token new ann done, operator token new bob done, token:ann task create ID done, token:ann event send ID done, token:bob task answer ID refused, token:ann task answer ID done, token:ann task cancel ID done"
	if strings.Join(got, ", ") != want {
		t.Errorf("the audit has\n%s, want\n%s", strings.Join(got, ", "), want)
	}
}

// TestHubInList: a hub in the list of hosts is known as one. It is no host that is away, and
// its tasks are in the lists; what is given before `hub` is for it, too.
func TestHubInList(t *testing.T) {
	t.Parallel()
	home, laptop := hosttest.New(t, ""), hosttest.New(t, "")
	_, addr := runHub(t, home)
	token := keeper(laptop)("token", home.Tandemux("hub", "token", "new", "me"))
	out := laptop.Tandemux("hosts", "add", "team", "ws://"+addr, "--token-file", token)
	if !strings.Contains(out, "team is a hub") {
		t.Errorf("add says %s", out)
	}
	laptop.Tandemux("host")
	for _, c := range []struct{ args, want, not string }{
		{"ls", "", "not reached"},
		{"hosts ls", "(a hub)", ""},
		{"hosts check", "ok; a hub", "not reached"},
		{"task ls", "", "not reached"},
		{"--host team hub queue", "0 wait", ""},
		{"hub queue --host team", "0 wait", ""},
		{"--host ws://" + addr + " --token-file " + token + " hub queue", "0 wait", ""},
	} {
		if out := laptop.Tandemux(strings.Fields(c.args)...); !strings.Contains(out, c.want) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%s says %s", c.args, out)
		}
	}
	for _, args := range []string{"ls --host team", "ls --host ws://" + addr + " --token-file " + token} {
		if out, err := laptop.Command(strings.Fields(args)...).CombinedOutput(); err == nil || !strings.Contains(string(out), "is a hub") || !strings.Contains(string(out), "tandemux hub ls --host") {
			t.Errorf("%s: %v, %s", args, err, out)
		}
	}
	if out, err := laptop.Command("hub", "queue").CombinedOutput(); err == nil || !strings.Contains(string(out), "no hub of yours") {
		t.Errorf("without --host: %v, %s", err, out)
	}
}
