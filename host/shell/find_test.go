package shell

import (
	"strings"
	"testing"
)

func TestShells(t *testing.T) {
	t.Setenv("SHELL", "/no/such/shell")
	if got := Find("relative"); got == "relative" || !strings.HasPrefix(got, "/") {
		t.Errorf("shell %q", got)
	}
	if got := Find("/bin/sh"); got != "/bin/sh" {
		t.Errorf("the configured shell is %q", got)
	}
	t.Setenv("SHELL", "/bin/sh")
	if got := Find(""); got != "/bin/sh" {
		t.Errorf("$SHELL gives %q", got)
	}
}
