package ui_test

import (
	"testing"

	"cotty/internal/leak"
	"cotty/ui/uitest"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestFirstPane(t *testing.T) {
	u := uitest.New(t, uitest.Options{})
	u.Golden("first")
	u.Type("echo hi")
	u.Shows("$ echo hi")
	if got := u.Host.Terminal("sh1").Typed(); got != "echo hi" {
		t.Errorf("typed %q", got)
	}
	u.Press("ctrl+space |")
	u.Golden("split")
}
