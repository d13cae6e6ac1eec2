package acp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tandemux/host/agent"
	"tandemux/internal/jsonrpc"
)

// shut is a confinement that calls /out what is /in inside, and starts nothing.
type shut struct{ argv []string }

func (s *shut) Wrap(_ context.Context, l agent.Launch) (agent.Launch, error) {
	if s.argv == nil {
		return agent.Launch{}, errors.New("no sandbox to be had")
	}
	return agent.Launch{Argv: s.argv}, nil
}
func (*shut) Outside(path string, _ bool) (string, error) { return path, nil }
func (*shut) Inside(path string) string                   { return strings.Replace(path, "/out", "/in", 1) }

// TestAttachedInside: an agent in a sandbox is told of files by the names that they
// have there, and other addresses as they are.
func TestAttachedInside(t *testing.T) {
	in := agent.Turn{Attachments: []agent.Attachment{{URI: "file:///out/a%20b"}, {URI: "https://x/out"}, {URI: "file://elsewhere/out/a"}, {Label: "x"}}}
	s := &session{spec: agent.Spec{Confine: &shut{}}}
	var got []string
	for _, a := range s.attached(in).Attachments {
		got = append(got, a.URI)
	}
	if want := "file:///in/a%20b https://x/out file://elsewhere/out/a "; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if in.Attachments[0].URI != "file:///out/a%20b" {
		t.Error("the host's own message was changed")
	}
}

// TestConfinedOrNot: where a session is confined and that fails, or gives no program
// by its whole path, nothing is started.
func TestConfinedOrNot(t *testing.T) {
	p, err := New(Config{ID: "x", Command: []string{"/bin/sh", "-c", "echo started >&2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*shut{{}, {argv: []string{}}, {argv: []string{"sh"}}} {
		proc, err := p.start(t.Context(), t.TempDir(), &session{p: p, spec: agent.Spec{Confine: c}})
		var failed *agent.Error
		if err == nil {
			proc.stop()
		}
		if !errors.As(err, &failed) || failed.Kind != agent.KindStart {
			t.Errorf("%q: %v", c.argv, err)
		}
	}
}

// TestLogInInside: a sandbox has none of the user's logins, and the error says how it gets one.
func TestLogInInside(t *testing.T) {
	p := &Provider{c: Config{ID: "x"}}
	e := &jsonrpc.Error{Code: codeAuthRequired, Message: "Authentication required"}
	outside := p.howToLogIn(&link{s: &session{}}, e)
	if outside != e.Message {
		t.Errorf("outside: %q", outside)
	}
	if got := p.howToLogIn(&link{s: &session{spec: agent.Spec{Confine: &shut{}}}}, e); !strings.HasPrefix(got, outside+"; its sandbox has none of your logins: `logins` in [agents.x]") {
		t.Errorf("inside: %q", got)
	}
}
