package attention

import (
	"testing"
	"time"

	"tandemux/ahp"
)

func TestOf(t *testing.T) {
	code := func(n int) *int { return &n }
	ms := func(n int64) *int64 { return &n }
	all, err := Choose(Names())
	if err != nil {
		t.Fatal(err)
	}
	long := &ahp.CommandInfo{CommandLine: "make test\nx", Timestamp: 1000, ExitCode: code(0), DurationMs: ms(20_000)}
	failed := &ahp.CommandInfo{CommandLine: "make", Timestamp: 1000, ExitCode: code(2), DurationMs: ms(20_000)}
	for _, c := range []struct {
		name string
		f    Facts
		of   Set
		want Alert
	}{
		{"nothing", Facts{}, all, Alert{}},
		{"bell", Facts{Row: ahp.Attention{Bell: 5}}, all, Alert{Rang, 5, "bell"}},
		{"seen", Facts{Row: ahp.Attention{Bell: 5, Output: 6, Seen: 6}}, all, Alert{}},
		{"not wanted", Facts{Row: ahp.Attention{Bell: 5, Output: 6}}, all &^ (1 << Rang), Alert{Printed, 6, "output"}},
		{"by weight", Facts{Row: ahp.Attention{Bell: 9, Output: 10, Note: &ahp.Note{At: 3, Title: "CI", Body: "red"}}}, all, Alert{Noted, 3, "CI: red"}},
		{"a long command", Facts{Command: long, Long: 10 * time.Second}, all, Alert{Passed, 21_000, "make test … is done"}},
		{"one that failed", Facts{Command: failed, Long: 10 * time.Second}, all, Alert{Failed, 21_000, "make failed with exit code 2"}},
		{"not that long", Facts{Command: long, Long: 21 * time.Second}, all, Alert{}},
		{"never", Facts{Command: long}, all, Alert{}},
		{"one that runs", Facts{Command: &ahp.CommandInfo{Running: true, DurationMs: ms(99_000)}, Long: time.Second}, all, Alert{}},
		{
			"waiting, though seen",
			Facts{Row: ahp.Attention{Seen: 99, Status: &ahp.ProgramStatus{State: "blocked", Kind: "permission", App: "claude", Text: "Run rm?", At: 5}}},
			all,
			Alert{Waiting, 5, "claude asks for permission: Run rm?"},
		},
		{"an agent that asks", Facts{Ask: &ahp.Ask{Who: "claude", Reason: "to run the tests"}}, all, Alert{Waiting, 0, "claude asks for this terminal: to run the tests"}},
		{"working", Facts{Row: ahp.Attention{Status: &ahp.ProgramStatus{State: "working", At: 5}}}, all, Alert{}},
		{"done", Facts{Row: ahp.Attention{Status: &ahp.ProgramStatus{State: "done", Title: "Deploy", App: "x", At: 5}}}, all, Alert{Passed, 5, "Deploy is done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Of(c.f, c.of); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if _, err := Choose([]string{"bells"}); err == nil {
		t.Error("an unknown kind is taken")
	}
}
