package registry

import (
	"strings"
	"testing"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

func tryFilesystems(t *testing.T, w *fixture) {
	shared, other := w.project("shared"), w.project("other")
	f := must(w.store.Filesystems.Create(ctx, store.Filesystem{ProjectID: shared.ID, Name: "files"}))(t)
	must(w.store.Filesystems.Create(ctx, store.Filesystem{ProjectID: other.ID, Name: "hidden"}))(t)
	reader, _ := w.key("reader", "project:shared:viewer")
	writer, _ := w.key("writer", "project:shared:editor")
	sees, _ := w.key("sees", "project:shared:discoverer")
	stranger, _ := w.key("stranger", "agent:*:owner")
	for _, c := range []struct {
		who    access.Principal
		verb   access.Verb
		status int
	}{
		{operator, access.Update, 0},
		{reader, access.Read, 0},
		{reader, access.Update, 403},
		{writer, access.Update, 0},
		{sees, access.Read, 403},
		{stranger, access.Read, 404},
	} {
		_, err := w.Filesystem(ctx, c.who, c.verb, "files")
		if c.status == 0 && err != nil {
			t.Errorf("%s may not %s: %v", c.who, c.verb, err)
		} else if c.status > 0 {
			refused(t, err, c.status)
		}
		// What a project_id takes to make a filesystem of (U84) is the same.
		if _, err := w.Project(ctx, c.who, c.verb, shared.ID); (err == nil) != (c.status == 0) {
			t.Errorf("%s, %s: the project says %v", c.who, c.verb, err)
		}
	}
	if all, _, err := w.Filesystems(ctx, reader, "", store.Page{}); err != nil || len(all) != 1 || all[0].ID != f.ID {
		t.Errorf("listed: %v, %v", all, err)
	}
	if all, _, err := w.Filesystems(ctx, operator, "other", store.Page{}); err != nil || len(all) != 1 || all[0].Name != "hidden" {
		t.Errorf("of other: %v, %v", all, err)
	}
	_, _, err := w.Filesystems(ctx, reader, "other", store.Page{})
	refused(t, err, 404)
	_, err = w.store.Filesystems.Create(ctx, store.Filesystem{ProjectID: shared.ID, Name: "files"})
	refused(t, err, 409)
	_, err = w.store.Filesystems.Create(ctx, store.Filesystem{ProjectID: "prj_none", Name: "files"})
	refused(t, err, 404)
}

func tryDualParents(t *testing.T, w *fixture) {
	a := w.deploy(acp("a"), "")
	p := w.project("p")
	parents := access.Parents{Task: "tsk_1", Agent: a.Agent.ID, Project: p.ID, Creator: "operator"}
	for name, c := range map[string]struct {
		scopes []string
		may    map[access.Verb]access.Decision
	}{
		"agent alone":   {[]string{"agent:a:owner"}, map[access.Verb]access.Decision{access.Read: access.Hidden, access.Run: access.Hidden}},
		"project alone": {[]string{"project:p:owner"}, map[access.Verb]access.Decision{access.Read: access.Hidden, access.Run: access.Hidden}},
		"readers":       {[]string{"agent:a:viewer", "project:p:viewer"}, map[access.Verb]access.Decision{access.Read: access.Allowed, access.Run: access.Denied, access.Delete: access.Denied}},
		"runner":        {[]string{"agent:a:executor", "project:p:viewer"}, map[access.Verb]access.Decision{access.Run: access.Allowed, access.Report: access.Allowed, access.Update: access.Denied, access.Delete: access.Denied}},
		"editors":       {[]string{"agent:a:editor", "project:p:editor"}, map[access.Verb]access.Decision{access.Run: access.Allowed, access.Update: access.Allowed, access.Delete: access.Allowed}},
		"all":           {[]string{"agent:*:editor", "project:*:viewer"}, map[access.Verb]access.Decision{access.Run: access.Allowed, access.Update: access.Allowed, access.Delete: access.Denied}},
		"one seen":      {[]string{"agent:a:editor", "project:p:discoverer"}, map[access.Verb]access.Decision{access.Read: access.Denied, access.Discover: access.Allowed}},
	} {
		who, _ := w.key("k-"+strings.ReplaceAll(name, " ", "-"), c.scopes...)
		for verb, want := range c.may {
			if got := access.MayTask(who, verb, parents); got != want {
				t.Errorf("%s may %s: %d, want %d", name, verb, got, want)
			}
		}
		private := parents
		private.Private = true
		if got := access.MayTask(who, access.Read, private); got != access.Hidden {
			t.Errorf("%s may read what is the operator's: %d", name, got)
		}
	}
	// Who made a task may delete it for as long as he may run it.
	who, k := w.key("maker", "agent:a:executor", "project:p:viewer")
	made := parents
	made.Creator = who.String()
	if access.MayTask(who, access.Delete, made) != access.Allowed || access.MayTask(who, access.Update, made) != access.Allowed {
		t.Error("the maker of a task may not delete it")
	}
	must(w.SetScopes(ctx, operator, k.ID, []access.Scope{{Kind: access.Agent, ID: "a", Role: access.Viewer}}))(t)
	who, _, _ = w.Principal(k.ID)
	if access.MayTask(who, access.Delete, made) == access.Allowed {
		t.Error("he may after his scopes are gone")
	}
	// A task speaks for itself alone.
	self := access.Principal{Kind: access.TaskKind, ID: "tsk_1"}
	for verb, want := range map[access.Verb]access.Decision{access.Read: access.Allowed, access.Report: access.Allowed, access.Run: access.Denied, access.Delete: access.Denied, access.Update: access.Denied} {
		if got := access.MayTask(self, verb, parents); got != want {
			t.Errorf("a task may %s itself: %d", verb, got)
		}
	}
	for _, other := range []access.Principal{{Kind: access.TaskKind, ID: "tsk_2"}, {Kind: access.TaskKind}, {}} {
		if got := access.MayTask(other, access.Read, parents); got != access.Hidden {
			t.Errorf("%v may read it: %d", other, got)
		}
		if got := access.May(other, access.Discover, access.Agent, a.Agent.ID); got != access.Hidden {
			t.Errorf("%v sees the agent: %d", other, got)
		}
	}
	if got := access.MayTask(access.Principal{}, access.Read, access.Parents{}); got != access.Hidden {
		t.Error("nobody may read nothing")
	}
}

func tryKeys(t *testing.T, w *fixture) {
	w.deploy(acp("a"), "")
	_, k := w.key("mine", "agent:a:executor", "agent:a:executor")
	if !strings.HasPrefix(k.Secret, "tandemux_sk_") || len(k.Secret) != len("tandemux_sk_")+43 {
		t.Errorf("the secret has %d characters", len(k.Secret))
	}
	if len(k.Scopes) != 1 || !strings.HasPrefix(k.Scopes[0].ID, "agt_") {
		t.Errorf("the scopes are %v: names become ids, doubles go", k.Scopes)
	}
	got := must(w.Key(ctx, operator, "mine"))(t)
	all, _, err := w.Keys(ctx, operator, store.Page{})
	if err != nil || len(all) != 1 || all[0].ID != got.ID {
		t.Errorf("listed: %v, %v", all, err)
	}
	_, err = w.CreateKey(ctx, operator, NewKey{Name: "mine", Scopes: k.Scopes})
	refused(t, err, 409)
	for _, bad := range []NewKey{
		{Name: "x"},
		{Name: "Bad", Scopes: k.Scopes},
		{Name: "x", Scopes: []access.Scope{{Kind: "org", ID: "*", Role: "admin"}}},
		{Name: "x", Scopes: []access.Scope{{Kind: "agent", ID: "nobody", Role: "viewer"}}},
		{Name: "x", Scopes: k.Scopes, Expires: w.now.Add(-time.Hour)},
		{Name: "x", Scopes: make([]access.Scope, 101)},
	} {
		_, err := w.CreateKey(ctx, operator, bad)
		refused(t, err, 422)
	}
	changed := must(w.SetScopes(ctx, operator, "mine", []access.Scope{{Kind: access.Project, ID: access.All, Role: access.Viewer}}))(t)
	who, _, _ := w.Principal(k.ID)
	if len(changed.Scopes) != 1 || len(who.Scopes) != 1 || who.Scopes[0].Kind != access.Project {
		t.Errorf("after a change: %v, %v", changed.Scopes, who.Scopes)
	}
	// Keys make no keys.
	boss, _ := w.key("boss", "agent:*:owner", "project:*:owner")
	_, _, err = w.Keys(ctx, boss, store.Page{})
	refused(t, err, 403)
	_, err = w.SetScopes(ctx, boss, "mine", boss.Scopes)
	refused(t, err, 403)
	_, err = w.RevokeKey(ctx, boss, "mine")
	refused(t, err, 403)
	// A key that ends by itself.
	ends := must(w.CreateKey(ctx, operator, NewKey{Name: "short", Scopes: boss.Scopes, Expires: w.now.Add(time.Hour)}))(t)
	if _, ok := w.Authenticate(ends.Secret); !ok {
		t.Error("it is over before its time")
	}
	w.now = w.now.Add(2 * time.Hour)
	if _, ok := w.Authenticate(ends.Secret); ok {
		t.Error("it is good after its time")
	}
	if _, _, ok := w.Principal(ends.ID); ok {
		t.Error("it is somebody's after its time")
	}
	if used := must(w.Key(ctx, operator, "mine"))(t).Used; used.IsZero() {
		t.Error("it is not known when it was used")
	}
}

func tryRevocation(t *testing.T, w *fixture) {
	who, k := w.key("gone", "agent:*:viewer")
	_, ended, _ := w.Principal(who.ID)
	select {
	case <-ended:
		t.Fatal("it has ended before")
	default:
	}
	got := must(w.RevokeKey(ctx, operator, "gone"))(t)
	select {
	case <-ended:
	default:
		t.Error("what was begun with it goes on")
	}
	if _, ok := w.Authenticate(k.Secret); ok {
		t.Error("it authenticates")
	}
	if _, _, ok := w.Principal(k.ID); ok {
		t.Error("it is somebody's")
	}
	if got.Revoked.IsZero() || len(got.Scopes) != 0 {
		t.Errorf("%+v: its scopes are cleaned up", got)
	}
	w.again()
	if _, ok := w.Authenticate(k.Secret); ok {
		t.Error("it authenticates with the next host")
	}
	must(w.RevokeKey(ctx, operator, k.ID))(t) // again: nothing happens
	_, err := w.SetScopes(ctx, operator, k.ID, []access.Scope{{Kind: access.Agent, ID: "*", Role: access.Owner}})
	refused(t, err, 409, "was revoked")
	if _, ok := w.Authenticate(k.Secret); ok {
		t.Error("new scopes brought it back")
	}
	w.key("gone", "agent:*:viewer") // the name is free again

	// A change of scopes ends what was begun with the old ones.
	who, k = w.key("changed", "agent:*:owner")
	_, ended, _ = w.Principal(who.ID)
	must(w.SetScopes(ctx, operator, k.ID, []access.Scope{{Kind: access.Agent, ID: "*", Role: access.Viewer}}))(t)
	select {
	case <-ended:
	default:
		t.Error("what was begun with wider scopes goes on")
	}
}

func tryScopes(t *testing.T, _ *fixture) {
	for text, fine := range map[string]bool{
		"agent:*:executor": true, "agent:agt_x:owner": true, "project:p:editor": true, "project:p:executor": false, "org:*:admin": false,
		"namespace:n:admin": false, "agent:*:admin": false, "agent::viewer": false, "agent:viewer": false, "": false, "agent:a:b:viewer": false,
	} {
		s, err := access.ParseScope(text)
		if (err == nil) != fine {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && s.String() != text {
			t.Errorf("%q becomes %q", text, s)
		}
	}
}

func tryRoles(t *testing.T, _ *fixture) {
	verbs := []access.Verb{access.Discover, access.Read, access.Run, access.Update, access.Delete}
	for role, want := range map[string]string{
		"agent:x:discoverer": "A----", "agent:x:viewer": "AA---", "agent:x:executor": "AAA--", "agent:x:editor": "AAAA-", "agent:x:owner": "AAAAA",
		"project:x:discoverer": "A----", "project:x:viewer": "AA---", "project:x:editor": "AA-A-", "project:x:owner": "AA-AA",
	} {
		s, err := access.ParseScope(role)
		if err != nil {
			t.Fatal(err)
		}
		who := access.Principal{Kind: access.Key, ID: "k", Scopes: []access.Scope{s}}
		got := ""
		for _, v := range verbs {
			switch access.May(who, v, s.Kind, "x") {
			case access.Allowed:
				got += "A"
			case access.Denied:
				got += "-"
			default:
				got += "?"
			}
			if access.May(who, v, s.Kind, "y") != access.Hidden {
				t.Errorf("%s reaches another", role)
			}
			if access.May(access.TheOperator(), v, s.Kind, "y") != access.Allowed {
				t.Errorf("the operator may not %s", v)
			}
		}
		if got != want {
			t.Errorf("%s may %s, want %s", role, got, want)
		}
	}
}

func tryProjects(t *testing.T, w *fixture) {
	p := w.project("p")
	name, text, dir := "renamed", "what it is for", t.TempDir()
	got := must(w.UpdateProject(ctx, operator, "p", ProjectChange{Name: &name, Description: &text, Dir: &dir}))(t)
	if got.ID != p.ID || got.Name != name || got.Description != text || got.Dir != dir {
		t.Errorf("%+v", got)
	}
	must(w.Project(ctx, operator, access.Read, name))(t)
	w.project("q")
	_, err := w.CreateProject(ctx, operator, ProjectChange{Name: &name})
	refused(t, err, 409)
	_, err = w.UpdateProject(ctx, operator, "q", ProjectChange{Name: &name})
	refused(t, err, 409)
	for _, bad := range []string{"relative", "/no/such/directory", "/etc/passwd"} {
		_, err := w.UpdateProject(ctx, operator, "q", ProjectChange{Dir: &bad})
		refused(t, err, 422, "absolute path of a directory")
	}
	// A key may not point a project at the operator's directories.
	editor, _ := w.key("editor", "project:*:owner")
	_, err = w.UpdateProject(ctx, editor, "q", ProjectChange{Dir: &dir})
	refused(t, err, 403, "only the operator")
	must(w.UpdateProject(ctx, editor, name, ProjectChange{Dir: &dir, Description: &text}))(t) // as it is
	maker := "of-a-key"
	must(w.CreateProject(ctx, editor, ProjectChange{Name: &maker}))(t)
	viewer, _ := w.key("viewer", "project:q:editor")
	_, err = w.CreateProject(ctx, viewer, ProjectChange{Name: &maker})
	refused(t, err, 403, "project:*:editor")
	if all, _, err := w.Projects(ctx, viewer, store.Page{}); err != nil || len(all) != 1 || all[0].Name != "q" {
		t.Errorf("a key sees %v, %v", all, err)
	}
	must(w.store.Filesystems.Create(ctx, store.Filesystem{ProjectID: p.ID, Name: "f"}))(t)
	refused(t, w.DeleteProject(ctx, operator, name), 409, "1 filesystems")
	refused(t, w.DeleteProject(ctx, viewer, "q"), 403)
	if err := w.DeleteProject(ctx, operator, "q"); err != nil {
		t.Error(err)
	}
	refused(t, w.DeleteProject(ctx, operator, "q"), 404)
}

func tryNames(t *testing.T, _ *fixture) {
	for name, fine := range map[string]bool{
		"a": true, "my-agent_2": true, "0": true, strings.Repeat("a", 40): true,
		"": false, "A": false, "-a": false, "_a": false, "a b": false, "ä": false, "a/b": false, "a.b": false, "a\n": false, strings.Repeat("a", 41): false,
	} {
		if err := access.CheckName("an agent", name); (err == nil) != fine {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func tryKinds(t *testing.T, w *fixture) {
	_, k := w.key("k", "agent:*:owner")
	w.deploy(acp("a"), "")
	if err := w.SetVariables(ctx, operator, "a", "prod", []store.Variable{{Name: "K", Value: "tandemux_sk_value-of-a-variable", Secret: true}}); err != nil {
		t.Fatal(err)
	}
	for what, secret := range map[string]string{
		"a token of the host's": "tandemux_" + k.Secret[len(SecretPrefix):], "a variable's value": "tandemux_sk_value-of-a-variable", "a key's id": k.ID,
		"nothing": "", "the prefix": SecretPrefix, "a part": k.Secret[:len(k.Secret)-1], "more": k.Secret + "x",
	} {
		if _, ok := w.Authenticate(secret); ok {
			t.Errorf("%s authenticates", what)
		}
	}
}

// TestOthersDefinitions: what is not the operator's own gets nothing of the host's
// by being named in a definition (U73, U80).
func TestOthersDefinitions(t *testing.T) {
	w := newWorld(t)
	w.env["AWS_SECRET_ACCESS_KEY"] = "of-the-host"
	who, _ := w.key("k", "agent:*:owner")
	deploy := func(by access.Principal, d Definition) (store.Deployed, error) {
		return w.Deploy(ctx, by, Deploy{Definition: &d})
	}
	_, err := deploy(who, Definition{Name: "a", Command: []string{"sh"}, Env: []string{"AWS_SECRET_ACCESS_KEY"}})
	refused(t, err, 403, "only the operator")
	for _, d := range []Definition{
		{Name: "a", Command: []string{"/bin/sh"}},
		{Name: "a", Command: []string{"../sh"}},
		{Name: "a", Command: []string{"sh"}, Hooks: Hooks{OnCreate: []string{"/bin/sh"}}},
		{Name: "a", Hooks: Hooks{OnEvent: []string{"/bin/sh"}}},
	} {
		_, err := deploy(who, d)
		refused(t, err, 403, "by its path on the host")
	}
	trusted := func(v store.Version) bool { return must(w.Launch(ctx, v.ID))(t).Trusted }
	theirs := must(deploy(who, acp("a")))(t)
	if trusted(theirs.Version) {
		t.Error("a key's version is trusted")
	}
	again := must(w.Redeploy(ctx, operator, theirs.Branch.ID, ""))(t)
	if trusted(again.Version) || again.Version.Author != who.String() {
		t.Errorf("it is by being deployed again by the operator: %+v", again.Version)
	}
	if events, _, _ := w.BranchEvents(ctx, operator, theirs.Branch.ID, store.Page{}); events[0].Author != "operator" {
		t.Errorf("who did so is %s", events[0].Author)
	}
	ours := must(deploy(operator, Definition{Name: "a", Command: []string{"/bin/sh"}, Env: []string{"AWS_SECRET_ACCESS_KEY"}}))(t)
	if !trusted(ours.Version) {
		t.Error("the operator's version is not trusted")
	}
	if re := must(w.Redeploy(ctx, who, ours.Branch.ID, ""))(t); trusted(re.Version) {
		t.Error("what a key deployed again, with variables of its own, is trusted")
	}
	w.configured["c"] = Definition{Command: []string{"/bin/sh"}}
	if got := must(w.Resolve(ctx, operator, Wanted{Agent: "c"}))(t); !trusted(got.Version) {
		t.Error("the configuration is not trusted")
	}
}

// TestRevocationRace: once RevokeKey has returned, nobody gets in by the key.
func TestRevocationRace(t *testing.T) {
	w := newWorld(t)
	for round := range 5 {
		_, k := w.key("k", "agent:*:viewer")
		stop, over := make(chan struct{}), make(chan int, 4)
		for range 4 {
			go func() {
				n := 0
				for {
					select {
					case <-stop:
						over <- n
						return
					default:
						if id, ok := w.Authenticate(k.Secret); ok {
							w.Principal(id)
							n++
						}
					}
				}
			}()
		}
		if _, err := w.RevokeKey(ctx, operator, k.ID); err != nil {
			t.Fatal(err)
		}
		if _, ok := w.Authenticate(k.Secret); ok {
			t.Fatalf("round %d: it authenticates after it was revoked", round)
		}
		close(stop)
		for range 4 {
			<-over
		}
	}
}
