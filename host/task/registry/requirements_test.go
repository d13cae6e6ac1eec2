package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// requirements are those of the documents that this package and the two below it
// meet, by number, with those that one test shows together. What tasks and workspaces
// meet is tried in their own packages.
var requirements = []struct {
	numbers []int
	titles  []string
	try     func(t *testing.T, w *fixture)
}{
	{
		[]int{12, 13, 14, 15, 57},
		[]string{"state is created", "state is got", "state update merges", "state is deleted", "states: create, get, list, update, delete"},
		tryState,
	},
	{
		[]int{16},
		[]string{"state is per task and agent"},
		tryStateScope,
	},
	{
		[]int{17},
		[]string{"tasks by id or name"},
		tryTaskNames,
	},
	{
		[]int{18, 56},
		[]string{"events are listed and got", "events: list, get"},
		tryEvents,
	},
	{
		[]int{19, 23},
		[]string{"agents by id or name, list", "agents: list, get, delete"},
		tryAgents,
	},
	{
		[]int{24},
		[]string{"a deploy is READY or FAILED"},
		tryDeployStatus,
	},
	{
		[]int{25, 27},
		[]string{"every deploy makes a version, a branch points at one", "versions: get, list"},
		tryVersions,
	},
	{
		[]int{26},
		[]string{"branches: get, lists, events, versions, redeploy, rollback"},
		tryBranches,
	},
	{
		[]int{28},
		[]string{"main is production, all else preview"},
		tryEnvironments,
	},
	{
		[]int{29},
		[]string{"branch: the one named, git's, main"},
		tryBranchOrder,
	},
	{
		[]int{30},
		[]string{"sticky tasks stay, others follow"},
		trySticky,
	},
	{
		[]int{31},
		[]string{"rollback brings the snapshot's secrets back"},
		tryRollbackSecrets,
	},
	{
		[]int{32},
		[]string{"migrate: bulk or chosen, to a version or the latest, in one branch"},
		tryMigrate,
	},
	{
		[]int{34},
		[]string{"a version is the hash of its definition and files"},
		tryHash,
	},
	{
		[]int{35},
		[]string{"the definition's keys"},
		tryDefinition,
	},
	{
		[]int{40},
		[]string{"create resolves a version of the branch"},
		tryResolve,
	},
	{
		[]int{45},
		[]string{"content is text or data"},
		tryContent,
	},
	{
		[]int{55},
		[]string{"messages: list with a direction, get"},
		tryMessages,
	},
	{
		[]int{58, 84, 86},
		[]string{"a filesystem derives its access from its project", "making a filesystem takes update on the project", "sharing a project shares its filesystems"},
		tryFilesystems,
	},
	{
		[]int{66},
		[]string{"idempotency keys replay"},
		tryIdempotency,
	},
	{
		[]int{82, 83, 85},
		[]string{"a task needs agent and project", "run on the agent, read on the filesystem", "project and agent are the parents"},
		tryDualParents,
	},
	{
		[]int{87},
		[]string{"keys: create, secret once, get, list, revoke, scopes"},
		tryKeys,
	},
	{
		[]int{88},
		[]string{"revocation is immediate"},
		tryRevocation,
	},
	{
		[]int{89},
		[]string{"a scope is a kind, an id and a role"},
		tryScopes,
	},
	{
		[]int{90},
		[]string{"roles"},
		tryRoles,
	},
	{
		[]int{93},
		[]string{"projects: create, get, list, update, delete when empty"},
		tryProjects,
	},
	{
		[]int{94},
		[]string{"names are slugs"},
		tryNames,
	},
	{
		[]int{96},
		[]string{"variables of environments"},
		tryVariables,
	},
	{
		[]int{97},
		[]string{"keys, tokens and variables are not mixed up"},
		tryKinds,
	},
	{
		[]int{100},
		[]string{"errors have statuses"},
		tryStatuses,
	},
	{
		[]int{106},
		[]string{"logs: filters"},
		tryLogs,
	},
}

// TestRequirements shows U12–U19, U23–U32, U34, U35, U40, U45, U55–U58, U66, U82–U90,
// U93, U94, U96, U97, U100, U106.
func TestRequirements(t *testing.T) {
	seen := map[int]bool{}
	for _, r := range requirements {
		name := ""
		for _, n := range r.numbers {
			if seen[n] {
				t.Errorf("U%d is there twice", n)
			}
			seen[n] = true
			name += fmt.Sprintf("U%d ", n)
		}
		if len(r.numbers) != len(r.titles) {
			t.Errorf("%s: every requirement has its title", name)
		}
		t.Run(strings.TrimSpace(name), func(t *testing.T) { r.try(t, newWorld(t)) })
	}
}

// must gives a value whose error is the test's.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refused checks an error's status and words.
func refused(t *testing.T, err error, status int, words ...string) {
	t.Helper()
	var coded interface{ StatusCode() int }
	if err == nil || !errors.As(err, &coded) || coded.StatusCode() != status {
		t.Errorf("%v; want an error of status %d", err, status)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q; want %q in it", err, word)
		}
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func tryState(t *testing.T, w *fixture) {
	d := w.deploy(acp("a"), "")
	task := w.task(d, "t")
	st := must(w.store.States.Create(ctx, store.State{TaskID: task.ID, AgentID: d.Agent.ID, State: raw(`{"count":0,"prefs":{"x":1}}`)}))(t)
	_, err := w.store.States.Create(ctx, store.State{TaskID: task.ID, AgentID: d.Agent.ID, State: raw(`{}`)})
	refused(t, err, 409)
	must(w.store.MergeState(ctx, st.ID, raw(`{"count":5,"prefs":{"y":2}}`)))(t)
	if got := must(w.store.State(ctx, task.ID, d.Agent.ID))(t); string(got.State) != `{"count":5,"prefs":{"x":1,"y":2}}` {
		t.Errorf("merged: %s", got.State)
	}
	must(w.store.ReplaceState(ctx, st.ID, raw(`{"new":true}`)))(t)
	if got := must(w.store.States.Get(ctx, st.ID))(t); string(got.State) != `{"new":true}` {
		t.Errorf("replaced: %s", got.State)
	}
	if all, _, err := w.store.States.List(ctx, store.Where{"task": task.ID}, store.Page{}); err != nil || len(all) != 1 {
		t.Errorf("listed: %v, %v", all, err)
	}
	if err := w.store.States.Delete(ctx, st.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.store.State(ctx, task.ID, d.Agent.ID)
	refused(t, err, 404)
	refused(t, w.store.States.Delete(ctx, st.ID), 404)
}

func tryStateScope(t *testing.T, w *fixture) {
	a, b := w.deploy(acp("a"), ""), w.deploy(acp("b"), "")
	one, two := w.task(a, "one"), w.task(a, "two")
	must(w.store.States.Create(ctx, store.State{TaskID: one.ID, AgentID: a.Agent.ID, State: raw(`{"n":1}`)}))(t)
	must(w.store.States.Create(ctx, store.State{TaskID: one.ID, AgentID: b.Agent.ID, State: raw(`{"n":2}`)}))(t)
	must(w.store.States.Create(ctx, store.State{TaskID: two.ID, AgentID: a.Agent.ID, State: raw(`{"n":3}`)}))(t)
	for want, of := range map[string][2]string{`{"n":1}`: {one.ID, a.Agent.ID}, `{"n":2}`: {one.ID, b.Agent.ID}, `{"n":3}`: {two.ID, a.Agent.ID}} {
		if got := must(w.store.State(ctx, of[0], of[1]))(t); string(got.State) != want {
			t.Errorf("%s, want %s", got.State, want)
		}
	}
}

func tryTaskNames(t *testing.T, w *fixture) {
	d := w.deploy(acp("a"), "")
	task := w.task(d, "my-task")
	for _, ref := range []string{task.ID, "my-task", task.ID[:8]} {
		if got := must(w.store.Tasks.Find(ctx, ref))(t); got.ID != task.ID {
			t.Errorf("%s is %s", ref, got.ID)
		}
	}
	must(w.store.DeleteTask(ctx, task.ID))(t)
	_, err := w.store.Tasks.Find(ctx, "my-task")
	refused(t, err, 404)
}

func tryEvents(t *testing.T, w *fixture) {
	task := w.task(w.deploy(acp("a"), ""), "t")
	e := must(w.store.AddEvent(ctx, store.Event{TaskID: task.ID, Content: []store.Part{store.TextPart("hi")}, Author: "operator"}))(t)
	must(w.store.AddEvent(ctx, store.Event{TaskID: task.ID, Content: []store.Part{store.DataPart(raw(`{"k":1}`))}}))(t)
	all, _, err := w.store.Events.List(ctx, store.Where{"task": task.ID}, store.Page{})
	if err != nil || len(all) != 2 || all[0].ID != e.ID || string(all[1].Content[0].Data) != `{"k":1}` {
		t.Errorf("listed: %+v, %v", all, err)
	}
	if got := must(w.store.Events.Get(ctx, e.ID))(t); got.Content[0].Text != "hi" || got.Status != store.EventPending {
		t.Errorf("got: %+v", got)
	}
	if _, changed, err := w.store.EndTask(ctx, task.ID, store.Cancelled, "cancelled"); !changed || err != nil {
		t.Errorf("cancelled: %v, %v", changed, err)
	}
	for _, e := range all {
		if got := must(w.store.Events.Get(ctx, e.ID))(t); got.Status != store.EventDiscarded {
			t.Errorf("after a cancel: %+v", got)
		}
	}
	_, err = w.store.AddEvent(ctx, store.Event{TaskID: task.ID, Content: []store.Part{store.TextPart("hi")}})
	refused(t, err, 409, "CANCELLED", "no events any more")
}

func tryAgents(t *testing.T, w *fixture) {
	d := w.deploy(Definition{Name: "first", Description: "does it", Command: []string{"sh"}}, "")
	w.deploy(acp("second"), "")
	for _, ref := range []string{"first", d.Agent.ID} {
		if a := must(w.Agent(ctx, operator, ref))(t); a.ID != d.Agent.ID || a.Description != "does it" {
			t.Errorf("%s is %+v", ref, a)
		}
	}
	all, _, err := w.Agents(ctx, operator, store.Page{})
	if err != nil || len(all) != 2 {
		t.Errorf("listed: %v, %v", all, err)
	}
	task := w.task(d, "t")
	refused(t, w.DeleteAgent(ctx, operator, "first"), 409, "has 1 tasks")
	must(w.store.DeleteTask(ctx, task.ID))(t)
	if err := w.DeleteAgent(ctx, operator, "first"); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteAgent(ctx, operator, must(w.Agent(ctx, operator, "second"))(t).ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.Agent(ctx, operator, "first")
	refused(t, err, 404)
	all, _, _ = w.Agents(ctx, operator, store.Page{})
	if len(all) != 0 {
		t.Errorf("left: %v", all)
	}
}

func tryDeployStatus(t *testing.T, w *fixture) {
	good := w.deploy(acp("a"), "")
	if good.Version.Status != store.Ready || good.Branch.Status != store.Ready {
		t.Errorf("%s, %s", good.Version.Status, good.Branch.Status)
	}
	bad := w.deploy(Definition{Name: "a", Command: []string{"no-such-program-anywhere"}}, "")
	if bad.Version.Status != store.Failed || !strings.Contains(bad.Version.Reason, "no-such-program-anywhere can't be run") {
		t.Errorf("%s: %s", bad.Version.Status, bad.Version.Reason)
	}
	b := must(w.Branch(ctx, operator, good.Branch.ID))(t)
	if b.Status != store.Failed || b.ActiveID != good.Version.ID || b.Reason == "" {
		t.Errorf("the branch is %+v; it stays at the version that works", b)
	}
	again := w.deploy(acp("a"), "")
	if b := must(w.Branch(ctx, operator, b.ID))(t); b.Status != store.Ready || b.ActiveID != again.Version.ID || b.Reason != "" {
		t.Errorf("after a good one it is %+v", b)
	}
	// One that was never ready has nothing to run.
	w.deploy(Definition{Name: "b", Hooks: Hooks{OnEvent: []string{"./gone"}}}, "")
	_, err := w.Resolve(ctx, operator, Wanted{Agent: "b"})
	refused(t, err, 409, "was ever ready", "which has none")
}

func tryVersions(t *testing.T, w *fixture) {
	one := w.deploy(acp("a"), "")
	two := w.deploy(acp("a"), "") // the same again is a version too
	three := w.deploy(acp("a"), "feature")
	if one.Version.Number != 1 || two.Version.Number != 2 || three.Version.Number != 3 {
		t.Errorf("%d, %d, %d", one.Version.Number, two.Version.Number, three.Version.Number)
	}
	if b := must(w.Branch(ctx, operator, one.Branch.ID))(t); b.ActiveID != two.Version.ID {
		t.Errorf("main is at %s", b.ActiveID)
	}
	for _, ref := range []string{one.Version.ID, "a@1", "a@v1"} {
		if v := must(w.Version(ctx, operator, ref))(t); v.ID != one.Version.ID || string(v.Definition) != string(one.Version.Definition) {
			t.Errorf("%s is %+v", ref, v)
		}
	}
	all, _, err := w.Versions(ctx, operator, "a", "", store.Page{})
	if err != nil || len(all) != 3 || all[0].Number != 3 {
		t.Errorf("listed: %v, %v", all, err)
	}
	if main, _, err := w.Versions(ctx, operator, "a", "main", store.Page{}); err != nil || len(main) != 2 {
		t.Errorf("of main: %v, %v", main, err)
	}
	_, err = w.Version(ctx, operator, "a@9")
	refused(t, err, 404)
	// A deploy of what is active already may be left out.
	def := acp("a")
	same := must(w.Deploy(ctx, operator, Deploy{Definition: &def, Unchanged: true}))(t)
	if !same.Unchanged || same.Version.ID != two.Version.ID {
		t.Errorf("unchanged: %+v", same)
	}
}

func tryBranches(t *testing.T, w *fixture) {
	one := w.deploy(acp("a"), "main")
	w.deploy(acp("a"), "feature/x")
	two := w.deploy(acp("a"), "main")
	if b := must(w.BranchNamed(ctx, operator, "a", "main"))(t); b.ID != one.Branch.ID {
		t.Errorf("main is %s", b.ID)
	}
	if all, _, err := w.Branches(ctx, operator, "a", "", store.Page{}); err != nil || len(all) != 2 {
		t.Errorf("branches: %v, %v", all, err)
	}
	if of, _, err := w.Branches(ctx, operator, "a", "preview", store.Page{}); err != nil || len(of) != 1 || of[0].Name != "feature/x" {
		t.Errorf("of preview: %v, %v", of, err)
	}
	if vs, _, err := w.BranchVersions(ctx, operator, one.Branch.ID, store.Page{}); err != nil || len(vs) != 2 {
		t.Errorf("versions: %v, %v", vs, err)
	}
	re := must(w.Redeploy(ctx, operator, one.Branch.ID, "secrets changed"))(t)
	if re.Version.SourceID != two.Version.ID || re.Version.Hash != two.Version.Hash || re.Version.ID == two.Version.ID || re.Version.SnapshotID == two.Version.SnapshotID {
		t.Errorf("redeployed: %+v", re.Version)
	}
	back := must(w.Rollback(ctx, operator, one.Branch.ID, "", "oops"))(t)
	if back.Version.ID != two.Version.ID {
		t.Errorf("rolled back to %d", back.Version.Number)
	}
	back = must(w.Rollback(ctx, operator, one.Branch.ID, "1", ""))(t)
	if back.Version.ID != one.Version.ID || back.Branch.ActiveID != one.Version.ID {
		t.Errorf("rolled back to %d", back.Version.Number)
	}
	_, err := w.Rollback(ctx, operator, one.Branch.ID, "", "")
	refused(t, err, 409, "no earlier version")
	_, err = w.Rollback(ctx, operator, one.Branch.ID, "1", "")
	refused(t, err, 409, "active one already")
	_, err = w.Rollback(ctx, operator, one.Branch.ID, "2", "")
	refused(t, err, 422, `not deployed on the branch "main"`)
	w.deploy(Definition{Name: "a", Command: []string{"no-such-program-anywhere"}}, "main")
	_, err = w.Rollback(ctx, operator, one.Branch.ID, "5", "")
	refused(t, err, 422, "version 5 failed")
	events, _, err := w.BranchEvents(ctx, operator, one.Branch.ID, store.Page{})
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	if want := []string{"failed", "rollback", "rollback", "redeploy", "deploy", "deploy"}; err != nil || !slices.Equal(kinds, want) {
		t.Errorf("events: %v, %v; want %v", kinds, err, want)
	}
	if e := events[2]; e.VersionID != two.Version.ID || e.PreviousID != re.Version.ID || e.Note != "oops" || e.Author != "operator" {
		t.Errorf("the first rollback is %+v", e)
	}
	for _, bad := range []string{"-x", "a b", "a..b", "/a", "a/", "a\x00", strings.Repeat("a", 201), "a~1"} {
		def := acp("a")
		_, err := w.Deploy(ctx, operator, Deploy{Definition: &def, Branch: bad})
		refused(t, err, 422, "no name of a branch")
	}
}

func tryEnvironments(t *testing.T, w *fixture) {
	for branch, env := range map[string]string{"main": "production", "master": "preview", "feature/x": "preview", "production": "preview"} {
		if got := w.deploy(acp("a"), branch); got.Branch.Environment != env || got.Version.Environment != env {
			t.Errorf("%s is of %s", branch, got.Branch.Environment)
		}
	}
	envs := must(w.Environments(ctx, operator, "a"))(t)
	if len(envs) != 2 || envs[0].Name != Preview || envs[0].Sticky || envs[1].Name != Production || !envs[1].Sticky {
		t.Errorf("%+v", envs)
	}
	yes, no := true, false
	def := acp("a")
	def.Deployment = map[string]Deployment{Production: {Sticky: &no}, Preview: {Sticky: &yes}}
	w.deploy(def, "")
	if envs := must(w.Environments(ctx, operator, "a"))(t); !envs[0].Sticky || envs[1].Sticky {
		t.Errorf("as the definition says: %+v", envs)
	}
	for in, want := range map[string]string{"prod": Production, "production": Production, "preview": Preview, "pre": Preview} {
		if got := must(ParseEnvironment(in))(t); got != want {
			t.Errorf("%s is %s", in, got)
		}
	}
	for _, in := range []string{"", "p", "pr", "staging", "productions"} {
		_, err := ParseEnvironment(in)
		refused(t, err, 422)
	}
}

func tryBranchOrder(t *testing.T, w *fixture) {
	main, feature := w.deploy(acp("a"), "main"), w.deploy(acp("a"), "feature")
	for _, c := range []struct{ branch, hint, want string }{
		{"feature", "main", feature.Version.ID},
		{"", "feature", feature.Version.ID},
		{"", "never-deployed", main.Version.ID},
		{"", "", main.Version.ID},
	} {
		if got := must(w.Resolve(ctx, operator, Wanted{Agent: "a", Branch: c.branch, Hint: c.hint}))(t); got.Version.ID != c.want {
			t.Errorf("%q, %q: version %d", c.branch, c.hint, got.Version.Number)
		}
	}
	_, err := w.Resolve(ctx, operator, Wanted{Agent: "a", Branch: "never-deployed", Hint: "feature"})
	refused(t, err, 404, `nothing was deployed on the branch "never-deployed"`, "a was deployed on main, feature")
}

func trySticky(t *testing.T, w *fixture) {
	prod, pre := w.deploy(acp("a"), "main"), w.deploy(acp("a"), "feature")
	stays, follows, over := w.task(prod, "stays"), w.task(pre, "follows"), w.task(pre, "over")
	must(w.store.Tasks.Edit(ctx, over.ID, func(t *store.Task) error { t.Status = store.Cancelled; return nil }))(t)
	w.deploy(acp("a"), "main")
	next := w.deploy(acp("a"), "feature")
	if !slices.Equal(next.Moved, []string{follows.ID}) {
		t.Errorf("moved: %v", next.Moved)
	}
	for ref, want := range map[string]string{stays.ID: prod.Version.ID, follows.ID: next.Version.ID, over.ID: pre.Version.ID} {
		if got := must(w.store.Tasks.Find(ctx, ref))(t); got.VersionID != want {
			t.Errorf("%s is at %s, want %s", got.Name, got.VersionID, want)
		}
	}
	must(w.Rollback(ctx, operator, pre.Branch.ID, "", ""))(t)
	if got := must(w.store.Tasks.Find(ctx, follows.ID))(t); got.VersionID != pre.Version.ID {
		t.Errorf("after a rollback it is at %s", got.VersionID)
	}
}

func tryRollbackSecrets(t *testing.T, w *fixture) {
	w.deploy(acp("a"), "")
	set := func(value string) {
		t.Helper()
		if err := w.SetVariables(ctx, operator, "a", "prod", []store.Variable{{Name: "API_KEY", Value: value, Secret: true}}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(version, want string) {
		t.Helper()
		l := must(w.Launch(ctx, version))(t)
		if !slices.Contains(l.Env, "API_KEY="+want) {
			t.Errorf("version %d runs with %v, want %s", l.Version.Number, l.Env, want)
		}
	}
	set("first-secret")
	one := w.deploy(acp("a"), "")
	set("second-secret")
	has(one.Version.ID, "first-secret") // pending until a deploy
	two := w.deploy(acp("a"), "")
	has(two.Version.ID, "second-secret")
	set("third-secret")
	back := must(w.Rollback(ctx, operator, one.Branch.ID, "", ""))(t)
	has(back.Version.ID, "first-secret")
	vars := must(w.store.Variables(ctx, one.Agent.ID, Production))(t)
	if len(vars) != 1 || vars[0].Value != "third-secret" {
		t.Errorf("the rollback rewrote what was pending: %v", vars)
	}
	re := must(w.Redeploy(ctx, operator, one.Branch.ID, ""))(t)
	has(re.Version.ID, "third-secret")
}

func tryMigrate(t *testing.T, w *fixture) {
	one := w.deploy(acp("a"), "main")
	t1, t2, over := w.task(one, "t1"), w.task(one, "t2"), w.task(one, "over")
	must(w.store.Tasks.Edit(ctx, over.ID, func(t *store.Task) error { t.Status = store.FailedRun; return nil }))(t)
	two, three := w.deploy(acp("a"), "main"), w.deploy(acp("a"), "main")
	got := must(w.Migrate(ctx, operator, Migration{Tasks: []string{"t1"}, To: "a@2"}))(t)
	if got.Version.ID != two.Version.ID || !slices.Equal(got.Moved, []string{t1.ID}) {
		t.Errorf("chosen: %+v", got)
	}
	got = must(w.Migrate(ctx, operator, Migration{From: one.Version.ID, ToLatest: true}))(t)
	if got.Version.ID != three.Version.ID || !slices.Equal(got.Moved, []string{t2.ID}) {
		t.Errorf("in bulk: %+v", got)
	}
	if task := must(w.store.Tasks.Find(ctx, over.ID))(t); task.VersionID != one.Version.ID {
		t.Error("a task that is over moved")
	}
	other := w.deploy(acp("a"), "feature")
	bad := w.deploy(Definition{Name: "a", Command: []string{"no-such-program-anywhere"}}, "main")
	elsewhere := w.task(other, "elsewhere")
	for _, c := range []struct {
		m      Migration
		status int
		words  string
	}{
		{Migration{}, 422, "either"},
		{Migration{From: one.Version.ID, Tasks: []string{"t1"}, ToLatest: true}, 422, "either"},
		{Migration{From: one.Version.ID, To: two.Version.ID, ToLatest: true}, 422, "either"},
		{Migration{Tasks: []string{"t1"}, To: other.Version.ID}, 422, "within one branch"},
		{Migration{Tasks: []string{"t1", elsewhere.ID}, ToLatest: true}, 422, "within one branch"},
		{Migration{Tasks: []string{"t1"}, To: bad.Version.ID}, 422, "failed"},
		{Migration{Tasks: []string{"over"}, ToLatest: true}, 422, "nothing to migrate"},
		{Migration{Tasks: []string{"nobody"}, ToLatest: true}, 404, ""},
		{Migration{Tasks: []string{"t1"}, To: "ver_none"}, 404, ""},
	} {
		_, err := w.Migrate(ctx, operator, c.m)
		refused(t, err, c.status, c.words)
	}
	if task := must(w.store.Tasks.Find(ctx, t1.ID))(t); task.VersionID != two.Version.ID {
		t.Error("what was refused moved a task all the same")
	}
}

func tryHash(t *testing.T, w *fixture) {
	files := func(text string) store.Deployed {
		t.Helper()
		b := archive(t, file(DefinitionFile, "name = \"a\"\ncommand = [\"./run\"]\n"), program("run", text))
		return must(w.Deploy(ctx, operator, Deploy{Files: b}))(t)
	}
	one, same, two := files("#!/bin/sh\n"), files("#!/bin/sh\n"), files("#!/bin/sh\nexit 1\n")
	if one.Version.Hash != same.Version.Hash || one.Version.Code != same.Version.Code || one.Version.Code == "" {
		t.Error("the same files have two hashes")
	}
	if one.Version.Hash == two.Version.Hash || one.Version.Code == two.Version.Code {
		t.Error("other files have the same hash")
	}
	for _, v := range []store.Deployed{one, two} {
		l := must(w.Launch(ctx, v.Version.ID))(t)
		text, err := os.ReadFile(l.CodeDir + "/run")
		if err != nil || v.Version.ID == one.Version.ID && string(text) != "#!/bin/sh\n" {
			t.Errorf("%q, %v: each version keeps its files", text, err)
		}
		if argv := l.Argv("/agent"); !slices.Equal(argv, []string{"/agent/run"}) {
			t.Errorf("it is started as %v", argv)
		}
	}
	if err := w.DeleteAgent(ctx, operator, "a"); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(w.dir + "/versions"); len(left) != 0 {
		t.Errorf("the files of a deleted agent are left: %v", left)
	}
}

func tryResolve(t *testing.T, w *fixture) {
	d := w.deploy(acp("a"), "")
	got := must(w.Resolve(ctx, operator, Wanted{Agent: d.Agent.ID}))(t)
	if got.Version.ID != d.Version.ID || got.Branch.ID != d.Branch.ID || got.Agent.ID != d.Agent.ID {
		t.Errorf("%+v", got)
	}
	_, err := w.Resolve(ctx, operator, Wanted{Agent: "nobody"})
	refused(t, err, 404, `no agent "nobody"`)

	// One of the configuration is registered when it is asked for, and again when it changed.
	w.configured["c"] = Definition{Command: []string{"sh"}}
	first := must(w.Resolve(ctx, operator, Wanted{Agent: "c", Hint: "some-branch"}))(t)
	again := must(w.Resolve(ctx, operator, Wanted{Agent: "c"}))(t)
	if first.Version.ID != again.Version.ID {
		t.Error("the same table made two versions")
	}
	w.configured["c"] = Definition{Command: []string{"sh", "-x"}}
	if changed := must(w.Resolve(ctx, operator, Wanted{Agent: "c"}))(t); changed.Version.Number != 2 {
		t.Errorf("another table made version %d", changed.Version.Number)
	}
	// What was deployed by hand stays, whatever the configuration says.
	w.configured["a"] = Definition{Command: []string{"cat"}}
	if got := must(w.Resolve(ctx, operator, Wanted{Agent: "a"}))(t); got.Version.ID != d.Version.ID {
		t.Error("the configuration took a deployed agent's place")
	}
	w.configured["broken"] = Definition{Command: []string{"no-such-program-anywhere"}}
	_, err = w.Resolve(ctx, operator, Wanted{Agent: "broken"})
	refused(t, err, 422, "can't run")

	// A bare command.
	hoc := must(w.AdHoc(ctx, operator, []string{"/bin/sh", "-c", "exit"}, ""))(t)
	same := must(w.AdHoc(ctx, operator, []string{"/bin/sh", "-c", "exit"}, ""))(t)
	other := must(w.AdHoc(ctx, operator, []string{"/bin/sh", "-c", "true"}, ""))(t)
	if hoc.Version.ID != same.Version.ID || hoc.Agent.ID == other.Agent.ID || !strings.HasPrefix(hoc.Agent.Name, "cmd-sh-") {
		t.Errorf("%s, %s, %s", hoc.Agent.Name, same.Agent.Name, other.Agent.Name)
	}
	who, _ := w.key("k", "agent:*:owner")
	_, err = w.AdHoc(ctx, who, []string{"/bin/sh"}, "")
	refused(t, err, 403, "only the operator")
}

func tryContent(t *testing.T, _ *fixture) {
	for text, fine := range map[string]bool{
		`{"type":"text","text":"a"}`: true, `{"type":"data","data":{"a":1}}`: true, `{"type":"data","data":null}`: true,
		`{"type":"text","data":{}}`: false, `{"type":"image"}`: false, `{}`: false, `{"type":"data"}`: false,
	} {
		var p store.Part
		if err := json.Unmarshal(raw(text), &p); err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); (err == nil) != fine {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func tryMessages(t *testing.T, w *fixture) {
	task := w.task(w.deploy(acp("a"), ""), "t")
	var ids []string
	for i := range 5 {
		m := must(w.store.Messages.Create(ctx, store.Message{TaskID: task.ID, Author: "agent", Content: []store.Part{store.TextPart(fmt.Sprint(i))}}))(t)
		ids = append(ids, m.ID)
	}
	newer, next, err := w.store.Messages.List(ctx, store.Where{"task": task.ID}, store.Page{Limit: 3})
	if err != nil || next == "" || newer[0].ID != ids[0] {
		t.Errorf("newer: %v, %q, %v", newer, next, err)
	}
	older, _, err := w.store.Messages.List(ctx, store.Where{"task": task.ID}, store.Page{Limit: 3, Reverse: true})
	if err != nil || older[0].ID != ids[4] || older[2].ID != ids[2] {
		t.Errorf("older: %v, %v", older, err)
	}
	if rest, next, err := w.store.Messages.List(ctx, store.Where{"task": task.ID}, store.Page{Cursor: next}); err != nil || len(rest) != 2 || next != "" {
		t.Errorf("the rest: %v, %q, %v", rest, next, err)
	}
	if m := must(w.store.Messages.Get(ctx, ids[1]))(t); m.Content[0].Text != "1" {
		t.Errorf("%+v", m)
	}
}

func tryIdempotency(t *testing.T, w *fixture) {
	if r, err := w.store.Reserve(ctx, "operator", "k", [32]byte{1}); r != nil || err != nil {
		t.Fatal(r, err)
	}
	if err := w.store.Settle(ctx, "operator", "k", store.Reply{Status: 201, Body: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	w.again() // replies outlive the host
	if r := must(w.store.Reserve(ctx, "operator", "k", [32]byte{1}))(t); r == nil || r.Status != 201 {
		t.Errorf("%+v", r)
	}
	_, err := w.store.Reserve(ctx, "operator", "k", [32]byte{2})
	refused(t, err, 409)
}

func tryStatuses(t *testing.T, w *fixture) {
	who, _ := w.key("k", "agent:*:discoverer")
	d := w.deploy(acp("a"), "")
	_, err := w.Branch(ctx, who, d.Branch.ID)
	refused(t, err, 403, "no right to read")
	_, err = w.Branch(ctx, access.Principal{Kind: access.Key, ID: "other"}, d.Branch.ID)
	refused(t, err, 404)
	_, err = ParseDefinition([]byte("name = 'Bad Name'\ncommand = ['x']"))
	refused(t, err, 422)
	_, err = w.CreateKey(ctx, who, NewKey{Name: "mine", Scopes: []access.Scope{{Kind: access.Agent, ID: "*", Role: access.Owner}}})
	refused(t, err, 403)
	_, err = w.CreateProject(ctx, operator, ProjectChange{})
	refused(t, err, 422, "needs a name")
}

func tryLogs(t *testing.T, w *fixture) {
	d := w.deploy(acp("a"), "")
	two := w.deploy(acp("a"), "")
	task := w.task(d, "t")
	l := must(w.Launch(ctx, d.Version.ID))(t)
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := w.Log(ctx, l,
		store.LogEntry{TaskID: task.ID, Level: store.Debug, Source: "agent", Text: "one", Created: base},
		store.LogEntry{TaskID: task.ID, Level: store.Warning, Source: "hook", Text: "two", Created: base.Add(time.Hour)},
		store.LogEntry{Level: store.Severe, Source: "agent", Text: "three", Created: base.Add(2 * time.Hour)},
	); err != nil {
		t.Fatal(err)
	}
	if err := w.Log(ctx, must(w.Launch(ctx, two.Version.ID))(t), store.LogEntry{Level: store.Info, Source: "agent", Text: "four", Created: base.Add(3 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	lines := func(f store.LogFilter) string {
		t.Helper()
		f.Agent = "a"
		found, _, err := w.Logs(ctx, operator, f)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, e := range found {
			if e.Source != "deploy" {
				words = append(words, e.Text)
			}
		}
		return strings.Join(words, " ")
	}
	for want, f := range map[string]store.LogFilter{
		"one two three four": {},
		"two three":          {Level: store.Warning, Until: base.Add(24 * time.Hour)},
		"one two":            {Task: "t"},
		"four":               {Version: "2", Source: "agent"},
		"two":                {Source: "hook"},
		"three four":         {Since: base.Add(2 * time.Hour)},
		"one":                {Until: base},
	} {
		if got := lines(f); got != want {
			t.Errorf("%+v gives %q, want %q", f, got, want)
		}
	}
	if got := lines(store.LogFilter{Source: "agent", Limit: 2}); got != "three four" {
		t.Errorf("the newest two are %q", got)
	}
	first, last, err := w.Logs(ctx, operator, store.LogFilter{Agent: "a"})
	if err != nil || last != first[len(first)-1].N {
		t.Fatal(last, err)
	}
	if err := w.Log(ctx, l, store.LogEntry{Level: store.Info, Source: "agent", Text: "five"}); err != nil {
		t.Fatal(err)
	}
	if next, _, err := w.Logs(ctx, operator, store.LogFilter{Agent: "a", After: last}); err != nil || len(next) != 1 || next[0].Text != "five" {
		t.Errorf("what follows: %v, %v", next, err)
	}
	// Deploys are in the log too; who may not read a task does not read its lines.
	if found, _, _ := w.Logs(ctx, operator, store.LogFilter{Agent: "a", Source: "deploy"}); len(found) != 2 || found[0].Text != "version 1 is active on main; 0 tasks follow" {
		t.Errorf("deploys: %v", found)
	}
	must(w.store.Tasks.Edit(ctx, task.ID, func(t *store.Task) error { t.Private = true; return nil }))(t)
	who, _ := w.key("k", "agent:a:viewer")
	found, _, err := w.Logs(ctx, who, store.LogFilter{Agent: "a", Source: "hook"})
	if err != nil || len(found) != 0 {
		t.Errorf("a private task's lines: %v, %v", found, err)
	}
}
