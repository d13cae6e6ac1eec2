package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// requirements are those of tasks, their events, messages, states and streams, of the
// interface, the command line and the client, by number, and what shows them: tests of
// Go, or scripts of cmd/tandemux. Those of files, sandboxes, agents and access are listed
// by the packages that they are built in.
var requirements = map[string][]string{
	"U4 synchronised around creation and events":   {"TestFilesystems", "task_sandbox.txtar"},
	"U5 cancel is not":                             {"TestFilesystems"},
	"U8 any language":                              {"TestHooks"},
	"U9 one interface":                             {"TestTable"},
	"U10 messages":                                 {"TestHooks", "TestMessages"},
	"U11 text and data":                            {"TestHooks", "TestMessages"},
	"U12 create a state":                           {"TestStates"},
	"U13 get a state":                              {"TestStates"},
	"U14 merge into a state":                       {"TestStates", "TestMergePatch"},
	"U15 delete a state":                           {"TestStates"},
	"U16 a state is of a task and an agent":        {"TestStates"},
	"U17 tasks by id or name":                      {"TestTask"},
	"U18 events":                                   {"TestTask"},
	"U19 agents by id or name":                     {"TestAgents"},
	"U20 create, send, cancel":                     {"TestTask", "TestCancel", "task.txtar"},
	"U21 progress":                                 {"TestHooks", "TestMessages", "task_sandbox.txtar"},
	"U22 what is bound to the task":                {"TestHooks", "task_sandbox.txtar"},
	"U37 the endpoints":                            {"TestTable", "TestTask"},
	"U38 create takes no message":                  {"TestTask"},
	"U39 what a task is made of":                   {"TestBadInput", "TestFilesystems"},
	"U40 a version of a branch":                    {"TestVersionsOfTasks"},
	"U41 the flow":                                 {"TestHooks"},
	"U42 three hooks":                              {"TestHooks"},
	"U43 on_create once":                           {"TestHooks", "TestBadHooks"},
	"U44 cancelled":                                {"TestCancel", "task.txtar"},
	"U45 text and data events":                     {"TestMessages"},
	"U46 whose what is":                            {"TestMessages", "TestStates", "TestFilesystems"},
	"U47 the stream resumes":                       {"TestStreamCuts", "TestStreamWaits", "TestStream"},
	"U48 types of parts":                           {"TestParts", "TestTellFromAnywhere"},
	"U49 text-delta":                               {"TestParts"},
	"U50 tool-call":                                {"TestParts", "TestHooks"},
	"U51 tool-result":                              {"TestParts", "TestHooks"},
	"U52 finish":                                   {"TestParts", "TestFinishReasons"},
	"U53 error":                                    {"TestParts", "TestFinishReasons"},
	"U54 the names of the AI SDK":                  {"TestParts"},
	"U55 messages by direction":                    {"TestMessages"},
	"U56 events, one and all":                      {"TestTask"},
	"U57 states":                                   {"TestStates"},
	"U66 idempotency":                              {"TestIdempotency", "TestReplies"},
	"U81 no time promised; questions are a tool's": {"TestBadHooks", "TestOthersTurns"},
	"U97 kinds of keys":                            {"TestKeys"},
	"U98 bearer and environment":                   {"TestKeys"},
	"U99 retries":                                  {"TestRetries"},
	"U100 typed errors":                            {"TestBadInput", "TestRetries"},
	"U101 flags of all commands":                   {"task.txtar"},
	"U102 commands":                                {"task.txtar", "deploy.txtar", "ws.txtar"},
	"U107 versions and what happened":              {"deploy.txtar"},
	"U108 tasks on the command line":               {"task.txtar", "task_sandbox.txtar"},
	"U114 no invented commands":                    {"TestDocs"},
	"U115 a page's chat":                           {"TestStreamWaits", "TestStreamCuts"},
	"U116 both loops":                              {"task_sandbox.txtar", "deploy.txtar"},
}

// TestRequirementsAreShown: what is listed is there.
func TestRequirementsAreShown(t *testing.T) {
	there := map[string]bool{}
	root := "../../.."
	for _, pattern := range []string{"host/task/*_test.go", "host/task/*/*_test.go", "internal/apiclient/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, path := range files {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					there[fn.Name.Name] = true
				}
			}
		}
	}
	for what, tests := range requirements {
		for _, name := range tests {
			if strings.HasSuffix(name, ".txtar") {
				if _, err := os.Stat(filepath.Join(root, "cmd/tandemux/testdata/script", name)); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			} else if !there[name] {
				t.Errorf("%s: there is no %s", what, name)
			}
		}
	}
}
