package cli

import (
	"strings"
	"testing"
)

// TestVersionOption: a command's own option --version is described as it is, not as
// that of the program.
func TestVersionOption(t *testing.T) {
	var in struct {
		Version int `flag:"version" doc:"Go back to this one"`
	}
	c := Command("rollback", "Go back\n", &in, nil)
	var text strings.Builder
	help(&text, c)
	if !strings.Contains(text.String(), "Go back to this one") {
		t.Errorf("the help is %s", &text)
	}
}
