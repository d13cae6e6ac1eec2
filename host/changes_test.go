package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/ahp/resource"
	"tandemux/host"
	"tandemux/host/auth"
	"tandemux/host/changes"
	"tandemux/host/git"
	"tandemux/internal/fileuri"
	"tandemux/internal/wsrpc"
)

// reviewer is a client that follows a session's changeset.
type reviewer struct {
	*peer
	session ahp.SessionState
	state   changeset.State
	uri     ahp.URI
	clock   int64
}

// repository makes one with a commit in the fixture's home.
func (w *fixture) repository(name string) string {
	w.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	dir = filepath.Join(dir, "home", name)
	w.file(dir, "a", "a\n")
	w.file(dir, "b.txt", "b\n")
	gitIn(w.t, dir, "init", "-q", "-b", "main")
	gitIn(w.t, dir, "add", "-A")
	gitIn(w.t, dir, "commit", "-qm", "first")
	return dir
}

func (w *fixture) file(dir, name, text string) {
	w.t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// startReviewed makes a fixture with a scripted agent that serves its home.
func startReviewed(t *testing.T, p *scripted, change ...func(*host.Config)) *fixture {
	return start(t, append([]func(*host.Config){withAgents(p), rootedAtHome}, change...)...)
}

// works makes a session in a directory.
func (p *peer) works(dir string) {
	p.t.Helper()
	p.must(ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: theSession, WorkingDirectories: []ahp.URI{fileuri.Of(dir)}, Meta: &ahp.SessionMeta{Chat: theChat},
	}, nil)
}

// reviews follows the changeset of the session until it is ready.
func reviews(p *peer) *reviewer {
	p.t.Helper()
	r := &reviewer{peer: p}
	p.seen = r.fold
	if err := json.Unmarshal(r.subscribe(theSession).State, &r.session); err != nil {
		p.t.Fatal(err)
	}
	r.await("the session lists a changeset", func() bool { return len(r.session.Changesets) == 1 })
	var row changeset.Changeset
	if err := json.Unmarshal(r.session.Changesets[0], &row); err != nil || row.Capabilities == nil || row.Capabilities.Review == nil {
		p.t.Fatalf("%s: %v", r.session.Changesets[0], err)
	}
	r.uri = row.Template
	r.follow()
	return r
}

func (r *reviewer) follow() {
	r.t.Helper()
	if err := json.Unmarshal(r.subscribe(r.uri).State, &r.state); err != nil {
		r.t.Fatal(err)
	}
	r.await("the changeset is computed", func() bool { return r.state.Status != changeset.Computing })
}

// await reads until a state is reached.
func (r *reviewer) await(what string, ok func() bool) {
	r.t.Helper()
	for !ok() {
		if _, _, err := r.next(); err != nil {
			r.t.Fatalf("%s: waiting until %s: %v\nchangeset %s", r.name, what, err, asJSON(r.t, r.state))
		}
	}
}

func (r *reviewer) fold(e ahp.Envelope) {
	switch {
	case e.RejectionReason != "":
	case e.Channel == theSession:
		r.session = ahp.ReduceSession(r.session, e.Action)
	case e.Channel == r.uri:
		r.state = changeset.Reduce(r.state, e.Action)
	}
}

func (r *reviewer) invoke(op, file string) (string, error) {
	r.t.Helper()
	p := changeset.InvokeParams{Channel: r.uri, OperationID: op}
	if file != "" {
		p.Target = &changeset.Target{Kind: changeset.OnResource, Resource: file}
	}
	if op == "commit" {
		p.Meta.Message = "by a client"
	}
	var done changeset.InvokeResult
	err := r.call(changeset.MethodInvoke, p, &done)
	return done.Message, err
}

// files are the names of those that differ, with * behind those that were reviewed.
func (r *reviewer) files() string {
	names := []string{}
	for _, f := range r.state.Files {
		name := filepath.Base(fileuri.Path(f.ID))
		if f.Reviewed {
			name += "*"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (r *reviewer) awaitFiles(want string) {
	r.t.Helper()
	r.await("files are "+want, func() bool { return r.files() == want })
}

func (r *reviewer) read(uri ahp.URI) string {
	r.t.Helper()
	var got resource.ReadResult
	if err := r.call(resource.MethodRead, resource.ReadParams{Params: resource.Params{Channel: ahp.RootURI, URI: uri}}, &got); err != nil {
		return err.Error()
	}
	return got.Data
}

func (r *reviewer) review(reviewed bool, files ...string) {
	r.t.Helper()
	r.clock++
	r.dispatch(r.uri, r.clock, changeset.FilesReviewChanged{Files: files, Reviewed: reviewed})
}

// TestChangeset: a session in a work tree lists one, which is as of now when it is
// subscribed to and after each turn; contents before and after can be read.
func TestChangeset(t *testing.T) {
	t.Parallel()
	agent := newScripted("scripted")
	w := startReviewed(t, agent)
	dir := w.repository("r")
	a := w.connect("a")
	a.initialize()
	a.works(filepath.Join(dir))
	w.file(dir, "b.txt", "changed\n")
	w.file(dir, "n", "new\n")
	os.Symlink("/etc/passwd", filepath.Join(dir, "l"))
	r := reviews(a)
	if r.state.Status != changeset.Ready || r.files() != "b.txt l n" {
		t.Fatalf("changeset %s", asJSON(t, r.state))
	}
	f := r.state.Files[0]
	if got := r.read(f.Edit.Before.Content.URI) + r.read(f.Edit.After.Content.URI); got != "b\nchanged\n" || *f.Edit.Diff.Added != 1 || *f.Edit.Diff.Removed != 1 {
		t.Errorf("%s: %q", asJSON(t, f), got)
	}
	if l := r.state.Files[1]; l.Edit.Before != nil || r.read(l.Edit.After.Content.URI) != "/etc/passwd" {
		t.Errorf("%s: %q", asJSON(t, l), r.read(l.Edit.After.Content.URI))
	}
	for _, uri := range []ahp.URI{
		r.uri + "/" + strings.Repeat("1", 40) + "/b.txt", r.uri, f.Edit.Before.Content.URI + "x", changeset.Scheme + "/none/1/b.txt",
		strings.Replace(f.Edit.Before.Content.URI, "/b.txt", "/..%2fb.txt", 1),
	} {
		if got := r.read(uri); !strings.Contains(got, "there is no") {
			t.Errorf("%s: %q", uri, got)
		}
	}
	w.file(dir, "a", "by the agent\n")
	os.Remove(filepath.Join(dir, "n"))
	r.clock++
	r.dispatch(theChat, r.clock, ahp.ChatTurnStarted{TurnID: "t1", Message: msg("hello")})
	r.awaitFiles("a b.txt l")
	if err := r.call(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: theSession}, nil); err != nil {
		t.Fatal(err)
	}
	r.awaitFiles("")
	if err := r.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: r.uri}, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("after the session: %v", err)
	}
}

// TestNoChangeset: a session outside of git lists none, until there is a repository.
func TestNoChangeset(t *testing.T) {
	t.Parallel()
	w := startReviewed(t, newScripted("scripted"))
	dir := w.repository("r")
	plain := filepath.Join(w.dir, "home", "plain")
	w.file(plain, "a", "a")
	a := w.connect("a")
	a.initialize()
	a.works(plain)
	r := &reviewer{peer: a}
	a.seen = r.fold
	a.subscribe(theSession)
	a.subscribe(theChat)
	gitIn(t, plain, "init", "-q")
	r.clock++
	r.dispatch(theChat, r.clock, ahp.ChatTurnStarted{TurnID: "t1", Message: msg("hello")})
	r.await("it is listed", func() bool { return len(r.session.Changesets) == 1 })
	for _, uri := range []ahp.URI{changeset.Scheme + "/none", changeset.Scheme, changeset.Scheme + "/" + dir} {
		if err := r.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
			t.Errorf("subscribe to %q: %v", uri, err)
		}
	}
}

// TestLookBehindLook: a turn that ends while the session is looked at is followed by
// another look.
func TestLookBehindLook(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan struct{})
	var looks atomic.Int64
	w := startReviewed(t, newScripted("scripted"), func(c *host.Config) {
		c.Workspace = func(string) (changes.Tree, error) {
			if looks.Add(1) > 1 {
				return nil, nil
			}
			close(asked)
			<-ended
			return nil, errors.New("not yet")
		}
	})
	a := w.connect("a")
	a.initialize()
	a.works(w.repository("r"))
	r := &reviewer{peer: a}
	a.seen = r.fold
	a.subscribe(theSession)
	a.subscribe(theChat)
	<-asked
	r.clock++
	r.dispatch(theChat, r.clock, ahp.ChatTurnStarted{TurnID: "t1", Message: msg("hello")})
	a.envelope("the end of the turn", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatTurnComplete); return is })
	close(ended)
	r.await("it is listed", func() bool { return len(r.session.Changesets) == 1 })
}

// TestReview: what one client has reviewed all see, another host too, until the file is
// another one.
func TestReview(t *testing.T) {
	t.Parallel()
	w := startReviewed(t, newScripted("scripted"))
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	w.file(dir, "b.txt", "2\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	a := reviews(p)
	q := w.connect("b")
	q.initialize()
	b := reviews(q)
	a.review(true, a.state.Files[0].ID, "file:///none")
	b.awaitFiles("a* b.txt")
	b.review(true, b.state.Files[1].ID)
	a.awaitFiles("a* b.txt*")
	b.review(false, b.state.Files[0].ID)
	a.awaitFiles("a b.txt*")
	if _, err := a.invoke("keep", a.state.Files[0].ID); err != nil {
		t.Error(err)
	}
	b.awaitFiles("a* b.txt*")

	w.shutdown()
	w.startHost(withAgents(newScripted("scripted")), rootedAtHome)
	w.file(dir, "b.txt", "3\n")
	p = w.connect("c")
	p.initialize()
	c := reviews(p)
	if c.files() != "a* b.txt" || c.uri != a.uri {
		t.Errorf("in the next host, at %s: %s", c.uri, c.files())
	}
}

// TestOperations: they do what they say, tell all, and refuse what does not fit.
func TestOperations(t *testing.T) {
	t.Parallel()
	w := startReviewed(t, newScripted("scripted"))
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	w.file(dir, "n", "new\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	a := reviews(p)
	q := w.connect("b")
	q.initialize()
	b := reviews(q)
	b.awaitFiles("a n")
	file := a.state.Files[0].ID
	ids := func() string {
		all := []string{}
		for _, o := range a.state.Operations {
			all = append(all, o.ID)
		}
		return strings.Join(all, " ")
	}
	if got := ids(); got != "keep undo commit" {
		t.Errorf("operations %s", got)
	}
	for _, bad := range []struct {
		params changeset.InvokeParams
		code   int
	}{
		{changeset.InvokeParams{Channel: a.uri, OperationID: "merge"}, ahp.CodeInvalidParams},
		{changeset.InvokeParams{Channel: a.uri + "x", OperationID: "keep"}, ahp.CodeNotFound},
		{changeset.InvokeParams{Channel: theSession, OperationID: "keep"}, ahp.CodeNotFound},
		{changeset.InvokeParams{Channel: a.uri, OperationID: "undo", Target: &changeset.Target{Kind: "resource", Resource: "file:///etc/passwd"}}, ahp.CodeNotFound},
		{changeset.InvokeParams{Channel: a.uri, OperationID: "undo", Target: &changeset.Target{Kind: "changeset"}}, ahp.CodeInvalidParams},
		{changeset.InvokeParams{Channel: a.uri, OperationID: "undo", Target: &changeset.Target{Kind: "range", Resource: file, Range: json.RawMessage(`{}`)}}, ahp.CodeInvalidParams},
		{changeset.InvokeParams{Channel: a.uri, OperationID: "commit", Target: &changeset.Target{Kind: "resource", Resource: file}}, ahp.CodeInvalidParams},
		{changeset.InvokeParams{Channel: a.uri, OperationID: "commit", Meta: changeset.InvokeMeta{Message: "a\x00b"}}, ahp.CodeInvalidParams},
	} {
		if err := a.call(changeset.MethodInvoke, bad.params, nil); ahp.CodeOf(err) != bad.code {
			t.Errorf("%s: %v, want %d", asJSON(t, bad.params), err, bad.code)
		}
	}
	said, err := a.invoke("undo", file)
	if err != nil || !strings.Contains(said, "refs/tandemux/undone/") {
		t.Fatalf("%q, %v", said, err)
	}
	b.awaitFiles("n")
	_, ref, _ := strings.Cut(said, " is kept as ")
	ref, _, _ = strings.Cut(ref, ";")
	gitIn(t, dir, "stash", "apply", "-q", ref)
	b.follow() // what others do shows with the next computation
	b.awaitFiles("a n")
	w.file(dir, ".git/index.lock", "")
	if _, err := b.invoke("commit", ""); ahp.CodeOf(err) != ahp.CodeConflict || !strings.Contains(err.Error(), "index is locked") {
		t.Errorf("while git is at work: %v", err)
	}
	a.await("the failure shows", func() bool {
		return slices.ContainsFunc(a.state.Operations, func(o changeset.Operation) bool {
			return o.ID == "commit" && o.Status == changeset.Failed && o.Error != nil
		})
	})
	os.Remove(filepath.Join(dir, ".git/index.lock"))
	if _, err := b.invoke("commit", ""); err != nil {
		t.Fatal(err)
	}
	a.awaitFiles("")
	a.await("nothing is offered", func() bool { return ids() == "" })
	if got := gitIn(t, dir, "log", "-1", "--format=%s") + gitIn(t, dir, "status", "--porcelain"); got != "by a client\n" {
		t.Errorf("after the commit: %q", got)
	}
	log, err := os.ReadFile(filepath.Join(w.dir, "state", "audit.log"))
	if err != nil || strings.Count(string(log), changeset.MethodInvoke) < 3 || !strings.Contains(string(log), "index is locked") {
		t.Errorf("audited: %v\n%s", err, log)
	}
}

// TestOperationWhileBusy: an agent at work in the tree is not raced.
func TestOperationWhileBusy(t *testing.T) {
	t.Parallel()
	agent := newScripted("scripted")
	agent.script("work", "say on it\nawait done\nsay done")
	w := startReviewed(t, agent)
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	a := reviews(p)
	a.clock++
	a.dispatch(theChat, a.clock, ahp.ChatTurnStarted{TurnID: "t1", Message: msg("work")})
	a.await("it works", func() bool {
		return len(a.session.Chats) == 1 && a.session.Chats[0].Status.Activity() == ahp.ActivityInProgress
	})
	for _, op := range []string{"undo", "commit"} {
		if _, err := a.invoke(op, ""); ahp.CodeOf(err) != ahp.CodeTurnInProgress {
			t.Errorf("%s: %v", op, err)
		}
	}
	if _, err := a.invoke("keep", ""); err != nil {
		t.Errorf("keep: %v", err)
	}
	close(agent.word("done"))
	a.await("it is done", func() bool { return a.session.Chats[0].Status.Activity() != ahp.ActivityInProgress })
	if _, err := a.invoke("undo", ""); err != nil {
		t.Error(err)
	}
}

// TestChangesetScopes: to look takes a session's scopes, contents those of files, and
// operations that to write them.
func TestChangesetScopes(t *testing.T) {
	t.Parallel()
	w := startReviewed(t, newScripted("scripted"))
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	reviews(p)
	for _, c := range []struct {
		scopes             []string
		keep, undo, commit bool
		read               bool
	}{
		{scopes: []string{auth.ScopeRead}},
		{scopes: []string{auth.ScopeRead, auth.ScopeCreate}, read: true},
		{scopes: []string{auth.ScopeRead, auth.ScopeSession}, keep: true},
		{scopes: []string{auth.ScopeAdmin}, keep: true, read: true},
		{scopes: []string{auth.ScopeRead, auth.ScopeSession, auth.ScopeWrite}, keep: true, undo: true, commit: true},
	} {
		q := w.connectTCP("client-"+strings.Join(c.scopes, "+"), w.token(c.scopes...).Token)
		q.initialize()
		r := reviews(q)
		r.awaitReady()
		if before := r.state.Files[0].Edit.Before.Content.URI; (r.read(before) == "a\n") != c.read {
			t.Errorf("%v: read %q", c.scopes, r.read(before))
		}
		r.review(true, r.state.Files[0].ID)
		e := r.echo(r.clock)
		if (e.RejectionReason == "") != c.keep {
			t.Errorf("%v: review: %q", c.scopes, e.RejectionReason)
		}
		for _, op := range []struct { // Undone there is nothing left to keep.
			name string
			may  bool
		}{{"keep", c.keep}, {"undo", c.undo}} {
			if _, err := r.invoke(op.name, ""); (err == nil) != op.may || !op.may && ahp.CodeOf(err) != ahp.CodePermissionDenied {
				t.Errorf("%v: %s: %v", c.scopes, op.name, err)
			}
		}
		q.hangUp()
	}
}

func (r *reviewer) awaitReady() {
	r.t.Helper()
	r.await("it is ready", func() bool { return r.state.Status == changeset.Ready && len(r.state.Files) > 0 })
}

// TestChangesetOutside: a work tree that is not below what the host serves can be
// looked at, but no contents of it, nor changed.
func TestChangesetOutside(t *testing.T) {
	t.Parallel()
	w := start(t, withAgents(newScripted("scripted")), func(c *host.Config) { c.Roots = []string{} })
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	r := reviews(p)
	r.awaitReady()
	if got := r.read(r.state.Files[0].Edit.Before.Content.URI); !strings.Contains(got, "not below") {
		t.Errorf("read %q", got)
	}
	if _, err := r.invoke("undo", ""); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("undo: %v", err)
	}
}

// TestChangesetBack: a client that lost its connection has the changeset again, from a
// host that was killed, too.
func TestChangesetBack(t *testing.T) {
	t.Parallel()
	w := startReviewed(t, newScripted("scripted"))
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	r := reviews(p)
	seq := r.seq
	w.shutdown()
	w.startHost(withAgents(newScripted("scripted")), rootedAtHome)
	q := w.connect("a")
	var back ahp.ReconnectResult
	q.must(ahp.MethodReconnect, map[string]any{
		"channel": ahp.RootURI, "clientId": "a", "lastSeenServerSeq": seq, "subscriptions": []ahp.URI{theSession, r.uri},
	}, &back)
	i := slices.IndexFunc(back.Snapshots, func(s ahp.Snapshot) bool { return s.Resource == r.uri })
	if i < 0 {
		t.Fatalf("came back to %s", asJSON(t, back))
	}
	r.peer, q.seen = q, r.fold
	r.state = changeset.State{}
	if err := json.Unmarshal(back.Snapshots[i].State, &r.state); err != nil {
		t.Fatal(err)
	}
	r.awaitReady()
	if r.files() != "a" {
		t.Errorf("files %s", r.files())
	}
}

// TestReviewKilled: what was reviewed outlives a host that is killed.
func TestReviewKilled(t *testing.T) {
	t.Parallel()
	w := startMortal(t)
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	left := filepath.Join(w.dir, "state", "changes", "git-left")
	p := w.dial("a", wsrpc.Target{URL: "unix://" + w.socket()})
	p.initialize()
	p.works(dir)
	a := reviews(p)
	a.review(true, a.state.Files[0].ID)
	a.awaitFiles("a*")
	w.kill()
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	w.revive()
	q := w.dial("b", wsrpc.Target{URL: "unix://" + w.socket()})
	q.initialize()
	if b := reviews(q); b.files() != "a*" {
		t.Errorf("in the next host: %s", b.files())
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what the host that was killed has left is there")
	}
}

// TestChangesetForOldClients: 0.5 has changesets, but no review.
func TestChangesetForOldClients(t *testing.T) {
	t.Parallel()
	w := startReviewed(t, newScripted("scripted"))
	dir := w.repository("r")
	w.file(dir, "a", "1\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	r := reviews(p)
	q := w.connect("old")
	q.must(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: "old"}, nil)
	old := reviews(q)
	old.awaitFiles("a")
	r.review(true, r.state.Files[0].ID)
	r.awaitFiles("a*")
	if _, err := r.invoke("undo", ""); err != nil {
		t.Fatal(err)
	}
	old.envelope("the file goes, and nothing of its review comes", func(e ahp.Envelope) bool {
		if _, is := e.Action.(changeset.FilesReviewChanged); is {
			t.Errorf("0.5 was sent %s", asJSON(t, e.Action))
		}
		_, is := e.Action.(changeset.FileRemoved)
		return is
	})
}

// homely is a workspace whose work can be merged.
type homely struct {
	changes.Tree
	merged chan string
}

func (h homely) Top() string { return "/w" }
func (h homely) Diff(context.Context) ([]git.FileDiff, error) {
	return []git.FileDiff{{Path: "f", Status: "added", Added: 1, New: git.Entry{Mode: "100644", ID: "1"}}}, nil
}

func (h homely) Merge(_ context.Context, message string) (string, error) {
	h.merged <- message
	return "the branch main", nil
}

// TestMergeHome is for sessions in workspaces alone.
func TestMergeHome(t *testing.T) {
	t.Parallel()
	h := homely{merged: make(chan string, 1)}
	w := startReviewed(t, newScripted("scripted"), func(c *host.Config) {
		c.Workspace = func(dir string) (changes.Tree, error) {
			if filepath.Base(dir) == "ws" {
				return h, nil
			}
			return nil, nil
		}
	})
	dir := filepath.Join(w.dir, "home", "ws")
	w.file(dir, "f", "x\n")
	p := w.connect("a")
	p.initialize()
	p.works(dir)
	r := reviews(p)
	r.awaitReady()
	said, err := r.invoke("merge", "")
	if err != nil || said != "Merged into the branch main." || <-h.merged == "" {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := r.invoke("undo", ""); ahp.CodeOf(err) != ahp.CodeInvalidParams {
		t.Errorf("undo: %v", err)
	}
}

// rootedAtHome lets the host serve the fixture's home.
func rootedAtHome(c *host.Config) { c.Roots = []string{filepath.Join(filepath.Dir(c.State), "home")} }
