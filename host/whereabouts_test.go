package host_test

import (
	"runtime"
	"testing"

	"tandemux/ahp"
)

// TestCwdOf: a terminal that is opened beside another starts where that one's
// program works, also when no shell has told.
func TestCwdOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	real := t.TempDir()
	const from = "ahp-terminal:/from"
	p.create(from, "sh", "-c", "cd /; echo there; read x; cd '"+real+"'; echo back; read x")
	p.output(from, "there")
	beside := func(uri ahp.URI, of ahp.URI, cwd string) {
		t.Helper()
		p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Cwd: cwd,
			Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "pwd -P; read x"}, CwdOf: of},
		}, nil)
		p.subscribe(uri)
	}
	beside("ahp-terminal:/a", from, "")
	p.output("ahp-terminal:/a", "/\r\n")
	p.dispatch(from, 1, ahp.TerminalInput{Data: "\n"})
	p.output(from, "back")
	beside("ahp-terminal:/b", from, "")
	p.output("ahp-terminal:/b", real)
	// Where that directory was removed a shell starts at home; a program does not.
	gone := ahp.CreateTerminalParams{
		Channel: "ahp-terminal:/d", Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Cwd: "file:///no/such",
		Meta: &ahp.CreateMeta{CwdOf: "ahp-terminal:/never"},
	}
	p.must(ahp.MethodCreateTerminal, gone, nil)
	gone.Channel, gone.Meta.Command = "ahp-terminal:/e", []string{"pwd"}
	if err := p.call(ahp.MethodCreateTerminal, gone, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("a program beside one whose directory is gone: %v", err)
	}
	beside("ahp-terminal:/c", "ahp-terminal:/never", "file:///etc") // of one that is not there: as cwd says
	p.output("ahp-terminal:/c", "/etc")
}
