package rules

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "tandemux"

// arrows lists, for each package, the project's packages that it may import
// besides its own sub-packages ("a/..." stands for a and all below it). Packages not
// listed may import nothing. TestMap holds docs/contributing/architecture.md to the imports.
var arrows = map[string][]string{
	"ahp":                      {"ahp/guest"},
	"ahp/guest":                {},
	"ahp/changeset":            {"ahp"},
	"ahp/wire":                 {"ahp"},
	"ahp/palette":              {"ahp"},
	"ahp/find":                 {"ahp"},
	"ahp/hosted":               {"ahp"},
	"ahp/clienttool":           {"ahp"},
	"ahp/resource":             {"ahp"},
	"ahp/schema":               {"ahp/..."},
	"ahp/annotation":           {"ahp"},
	"emulator":                 {},
	"emulator/input":           {"emulator"},
	"emulator/control":         {"emulator"},
	"emulator/picture":         {"emulator"},
	"emulator/native":          {"internal/pty", "emulator", "emulator/control", "emulator/native/atrest", "emulator/native/grapheme", "emulator/picture"},
	"emulator/vt10x":           {"emulator", "emulator/control"},
	"emulator/native/atrest":   {"emulator", "emulator/control", "emulator/native/grapheme"},
	"emulator/native/grapheme": {},
	"emulator/engine":          {"emulator/...", "internal/config/option"},
	"emulator/emutest":         {"emulator"},
	"keymap":                   {"internal/config/option"},
	"themes":                   {"emulator", "internal/spelling"},
	"internal/acptest":         {},
	"internal/ahptest":         {},

	"internal/config/strict": {},
	"internal/complete":      {"ahp", "ahp/hosted", "host/task/store", "host/workspace/folders", "internal/cli", "internal/endpoint", "internal/hosts", "internal/local", "internal/taskcmd"},

	"internal/approval":  {"ahp"},
	"internal/cli":       {"emulator", "internal/jsonform", "internal/plaintext", "internal/spelling"},
	"internal/jsonform":  {"ahp", "ahp/schema", "internal/fileuri"},
	"internal/config":    {"internal/config/option", "internal/hosts", "internal/spelling", "internal/statefile", "themes", "internal/pace"},
	"internal/daemon":    {"internal/statefile"},
	"internal/memtrim":   {},
	"internal/fileuri":   {},
	"internal/fault":     {},
	"internal/leak":      {},
	"internal/resurrect": {"ahp", "ahp/hosted", "internal/client", "internal/memtrim", "internal/plaintext", "internal/statefile", "internal/config/option", "internal/pace"},
	"internal/smalldisk": {},
	"internal/soak":      {},
	"internal/spelling":  {},
	"internal/pace":      {},
	"internal/rawio":     {},
	"internal/plaintext": {},
	"internal/pty":       {},
	"internal/rules":     {},
	"internal/procgroup": {},
	"internal/hosttest":  {"internal/leak"},
	"internal/pgtest":    {"internal/hosttest"},
	"internal/linktest":  {},
	"internal/jsonrpc":   {},
	"internal/wsrpc":     {"internal/jsonrpc", "internal/rawio"},
	"internal/client":    {"ahp/...", "internal/jsonrpc", "internal/wsrpc", "internal/pace"},
	"host/agent":         {"ahp"},
	"host/agent/words":   {"ahp", "host/agent", "host/params", "internal/fileuri"},
	"host/completion":    {"ahp", "internal/fileuri"},
	"host/annotations":   {"ahp/...", "host/agent/words", "host/audit", "host/auth", "host/core", "host/params", "host/requests", "internal/fileuri", "internal/plaintext"},
	"host/credential":    {"host/agent"},
	"host/sessions":      {"ahp/...", "host/agent", "host/agent/commandline", "host/agent/words", "host/annotations", "host/completion", "host/audit", "host/auth", "host/core", "host/credential", "host/params", "host/requests", "host/sessions/page", "internal/fileuri"},
	"host/requests":      {"ahp/...", "host/audit", "host/auth", "host/core", "host/outbox", "host/params", "internal/fileuri", "internal/jsonrpc", "internal/plaintext", "internal/pace"},
	"host/params":        {"ahp", "internal/plaintext"},
	"host/agent/acp":     {"ahp", "host/agent", "host/shell", "internal/jsonrpc", "internal/procgroup", "internal/plaintext"},
	"host/hooks":         {"ahp", "internal/config/option", "internal/procgroup", "internal/spelling", "internal/statefile", "internal/pace"},
	"host/guard":         {"host/shell", "internal/config/option", "internal/statefile", "internal/plaintext"},
	"host/keeper":        {"internal/daemon", "internal/memtrim", "internal/pty", "internal/rawio", "internal/pace"},
	"host/journal":       {},
	"host/shell":         {"internal/pty", "internal/config/option", "internal/statefile"},
	"host/terminal":      {"ahp", "ahp/wire", "emulator/...", "internal/pace", "internal/rawio", "internal/pty", "host/journal", "host/keeper", "host/shell", "host/terminal/filter", "host/terminal/medium", "host/terminal/output", "host/terminal/source", "internal/fileuri", "internal/plaintext"},
	"host/activity":      {"ahp", "emulator", "host/core", "host/params", "host/terminal", "internal/statefile"},
	"host/audit":         {"ahp", "internal/statefile"},
	"host/auth":          {"ahp", "internal/statefile"},
	"host/files":         {"ahp/...", "internal/fileuri"},
	"host/resources":     {"ahp/...", "host/audit", "host/auth", "host/core", "host/files", "host/params", "host/requests"},
	"host/front":         {"ahp", "host/audit", "host/auth", "host/listen", "internal/daemon", "internal/jsonrpc", "internal/wsrpc"},
	"host/listen":        {"ahp", "internal/config/option", "internal/daemon", "internal/statefile"},
	"host":               {"ahp/...", "emulator/...", "host/activity", "host/agent", "host/agent/commandline", "host/agent/words", "host/agentterm", "host/annotations", "host/audit", "host/auth", "host/changes", "host/commands", "host/completion", "host/confine", "host/core", "host/credential", "host/files", "host/front", "host/guard", "host/history", "host/hooks", "host/journal", "host/keeper", "host/listen", "host/params", "host/questions", "host/requests", "host/resources", "host/sessions", "host/shell", "host/terminals", "internal/fileuri", "internal/jsonrpc", "internal/statefile"},
	"host/terminals":     {"ahp", "ahp/guest", "emulator/...", "host/activity", "host/agent", "host/audit", "host/auth", "host/claims", "host/core", "host/guard", "host/journal", "host/journal/record", "host/keeper", "host/listen", "host/outbox", "host/params", "host/requests", "host/roster", "host/shell", "host/terminal", "host/terminal/medium", "internal/fileuri", "internal/jsonrpc", "internal/tmux/pane", "internal/plaintext", "internal/pace"},
	"host/questions":     {"ahp", "host/activity", "host/audit", "host/auth", "host/claims", "host/core", "host/guard", "host/params", "host/requests", "host/terminals", "internal/jsonrpc"},
	"host/history":       {"ahp", "ahp/find", "host/core", "host/terminals", "internal/config/option", "internal/statefile"},
	"host/commands":      {"ahp", "ahp/find", "host/audit", "host/auth", "host/core", "host/history", "host/params", "host/requests", "host/shell", "host/terminal", "host/terminals", "internal/jsonrpc", "internal/plaintext", "internal/pace"},
	"host/agentterm":     {"ahp", "host/activity", "host/agent", "host/agent/commandline", "host/agent/words", "host/audit", "host/auth", "host/claims", "host/confine", "host/core", "host/guard", "host/params", "host/sessions", "host/shell", "host/terminals", "internal/plaintext"},
	"host/confine":       {"ahp", "host/agent", "host/auth", "host/core", "host/listen", "host/params", "internal/daemon"},
	"host/claims":        {"ahp", "host/auth", "host/params"},
	"host/changes":       {"ahp/...", "host/audit", "host/auth", "host/core", "host/files", "host/git", "host/params", "host/requests", "internal/fileuri", "host/workspace/filetree", "internal/pace"},
	"host/core":          {"ahp/...", "emulator", "host/audit", "host/auth", "host/journal", "host/journal/record", "host/outbox", "internal/memtrim", "internal/statefile"},
	"host/outbox":        {"ahp/...", "internal/jsonrpc", "internal/memtrim"},
	"host/mcp":           {"ahp", "ahp/clienttool", "host/front", "host/guard", "host/pool", "internal/plaintext", "internal/hosttest", "internal/fileuri", "internal/pace"},
	"host/roster":        {"ahp", "host/keeper"},
	"host/pool":          {"ahp", "internal/plaintext", "internal/fileuri"},
	"host/passkey":       {"internal/statefile"},
	"host/push":          {"ahp", "host/hooks", "internal/statefile", "internal/pace"},
	"host/web":           {"ahp", "host/auth", "host/front", "host/passkey", "host/push", "internal/client", "internal/config/option", "internal/fault", "internal/hosttest", "internal/jsonrpc", "internal/statefile", "internal/wsrpc"},
	"host/ptyws":         {"ahp", "host/front", "host/pool", "internal/client", "internal/jsonrpc", "internal/hosttest", "internal/wsrpc", "internal/fileuri"},
	"host/git":           {"host/workspace/filetree", "internal/procgroup"},
	"host/workspace":     {"host/git", "host/workspace/filetree", "host/workspace/folders", "host/workspace/merge", "host/workspace/modules"},

	"host/workspace/modules": {"host/git", "host/workspace/filetree"},
	"host/workspace/folders": {"host/workspace/filetree"},
	"host/workspace/merge":   {"host/git", "host/workspace/filetree"},
	"host/workspace/travel":  {"host/git", "host/workspace", "host/workspace/filetree", "host/workspace/merge"},

	"host/agent/commandline": {"ahp", "host/agent"},
	"host/sessions/page":     {"ahp", "host/params"},

	"host/journal/record":  {"ahp", "host/journal"},
	"host/terminal/output": {"host/terminal/filter", "internal/plaintext"},
	"host/terminal/filter": {"host/terminal/medium", "internal/plaintext"},
	"host/terminal/medium": {},
	"host/terminal/source": {"host/journal", "internal/pty", "internal/rawio"},

	"host/workspace/filetree": {"internal/fault", "internal/statefile"},

	"host/sandbox":             {"host/agent", "internal/pty"},
	"host/task/access":         {},
	"host/task/login":          {},
	"host/task/budget":         {"internal/config/option"},
	"host/task/store":          {"host/task/access", "host/task/budget", "host/task/store/postgres", "internal/pgtest", "internal/statefile", "internal/fault", "internal/plaintext"},
	"host/task/store/postgres": {},
	"host/task/queue":          {},
	"host/task/question":       {"ahp", "host/task/access", "host/task/store", "host/task/turns", "internal/approval"},
	"host/task/turns":          {"ahp", "host/agent/commandline", "host/task/budget", "host/task/store", "internal/plaintext"},
	"host/task/registry":       {"internal/config/strict", "host/task/access", "host/task/budget", "host/task/store", "host/workspace/filetree"},
	"host/task":                {"ahp", "host/agent/...", "host/sandbox", "host/task/access", "host/task/budget", "host/task/home", "host/task/login", "host/task/question", "host/task/queue", "host/task/registry", "host/task/store", "host/task/turns", "host/workspace/...", "internal/approval", "internal/client", "internal/jsonrpc", "host/task/hook", "internal/fileuri", "internal/pace"},
	"host/task/home":           {"host/git", "host/task/store", "host/workspace", "internal/config/option", "host/task/hook", "internal/plaintext"},
	"host/task/api":            {"host/auth", "host/front", "host/task", "host/task/access", "host/task/budget", "host/task/question", "host/task/registry", "host/task/store", "host/workspace/...", "internal/fault", "internal/plaintext"},
	"host/task/hook":           {"host/agent", "host/task/store", "internal/plaintext", "internal/procgroup"},
	"internal/apiclient":       {},
	"internal/local":           {"ahp", "host/journal", "host/keeper", "host/listen", "internal/cli", "internal/client", "internal/daemon", "internal/jsonrpc", "internal/statefile", "internal/pace"},
	"internal/taskcmd":         {"host/git", "host/task/...", "host/workspace/...", "internal/apiclient", "internal/approval", "internal/cli", "internal/endpoint", "internal/prompt"},
	"ui/layout":                {},
	"ui/command":               {"keymap", "ui/layout", "internal/spelling"},
	"ui/look":                  {"emulator", "themes", "internal/config/option"},
	"ui/tty":                   {"emulator", "internal/rawio", "internal/plaintext"},
	"ui/paint":                 {"emulator", "emulator/picture", "internal/pace"},
	"ui/pane":                  {"ahp", "emulator/...", "ui/motion", "ui/paint", "ui/predict", "ui/words"},
	"ui/predict":               {"ahp", "emulator/..."},
	"ui/motion":                {"emulator"},
	"ui/attention":             {"ahp", "internal/config/option"},
	"ui/chat":                  {"ahp", "internal/approval", "ui/editor", "ui/look", "ui/markup", "ui/paint", "ui/transcript", "ui/words"},
	"ui/editor":                {"emulator", "ui/paint", "ui/words"},
	"ui/markup":                {"emulator", "ui/look", "ui/paint", "ui/words"},
	"ui/transcript":            {"ahp", "emulator", "internal/approval", "ui/look", "ui/markup", "ui/paint", "ui/words"},
	"ui/status":                {"ui/look", "ui/paint", "internal/config/option"},
	"ui/words":                 {"internal/plaintext"},
	"ui/address":               {"ahp", "ahp/hosted"},
	"ui/link":                  {"ahp", "ahp/find", "ahp/hosted", "ahp/wire", "ahp/annotation", "ahp/changeset", "ahp/palette", "ui/loop", "ui/pane", "ui/predict", "ui/tasks"},
	"ui/agents":                {"ahp", "ahp/hosted", "internal/approval", "keymap", "ui/address", "ui/attention", "ui/chat", "ui/clipboard", "ui/command", "ui/layout", "ui/link", "ui/look", "ui/loop", "ui/outer", "ui/overlay", "ui/paint", "ui/pane", "ui/panes", "ui/review", "ui/status", "ui/tasks", "ui/terminals", "ui/words", "internal/fileuri"},
	"ui/typing":                {"ahp", "ahp/hosted", "emulator", "emulator/input", "ui/command", "ui/link", "ui/loop", "ui/outer", "ui/pane", "ui/panes", "ui/predict", "ui/status", "ui/terminals", "ui/tty", "ui/words"},
	"ui/hints":                 {"ui/editor", "ui/look", "ui/paint", "ui/words"},
	"ui/segments":              {"ahp", "ui/loop", "ui/outer", "ui/panes", "ui/status", "ui/words"},
	"ui/copying":               {"ahp", "ahp/find", "internal/fileuri", "ui/clipboard", "ui/command", "ui/hints", "ui/layout", "ui/link", "ui/look", "ui/loop", "ui/outer", "ui/overlay", "ui/paint", "ui/pane", "ui/panes", "ui/status", "ui/terminals", "ui/words"},
	"ui/mouse":                 {"emulator", "emulator/input", "ui/agents", "ui/clipboard", "ui/copying", "ui/layout", "ui/link", "ui/loop", "ui/outer", "ui/overlay", "ui/paint", "ui/pane", "ui/panes", "ui/status", "ui/terminals", "ui/typing"},
	"ui/alerts":                {"ahp", "ahp/hosted", "ui/address", "ui/agents", "ui/attention", "ui/layout", "ui/link", "ui/look", "ui/loop", "ui/outer", "ui/paint", "ui/panes", "ui/status", "ui/terminals", "ui/tty", "ui/words"},
	"ui/control":               {"ahp", "internal/fileuri", "ui/address", "ui/alerts", "ui/attention", "ui/command", "ui/layout", "ui/link", "ui/look", "ui/loop", "ui/outer", "ui/overlay", "ui/paint", "ui/pane", "ui/panes", "ui/status", "ui/terminals", "ui/words"},
	"ui/keys":                  {"keymap", "ui/command", "ui/look", "ui/loop", "ui/overlay", "ui/paint", "ui/status"},
	"ui/screen":                {"ahp", "emulator", "ui/address", "ui/agents", "ui/layout", "ui/look", "ui/loop", "ui/outer", "ui/overlay", "ui/paint", "ui/pane", "ui/panes", "ui/predict", "ui/recording", "ui/terminals", "ui/words"},
	"ui/panes":                 {"ahp", "ahp/hosted", "ui/address", "ui/command", "ui/layout", "ui/link", "ui/look", "ui/loop", "ui/outer", "ui/overlay", "ui/paint", "ui/pane", "ui/status", "ui/terminals", "ui/words", "internal/fileuri"},
	"ui/terminals":             {"ahp", "ahp/guest", "ahp/hosted", "ui/address", "ui/command", "ui/look", "ui/pane", "ui/words", "internal/fileuri"},
	"ui/clipboard":             {"ui/look", "ui/loop", "ui/overlay", "ui/paint", "ui/status", "ui/words"},
	"ui/tasks":                 {"ahp", "ui/look", "ui/loop", "ui/overlay", "ui/status", "ui/words"},
	"ui/diff":                  {"internal/approval", "ui/look", "ui/markup", "ui/paint", "ui/words"},
	"ui/review":                {"ahp", "ahp/annotation", "ahp/changeset", "ahp/resource", "internal/fileuri", "ui/diff", "ui/editor", "ui/link", "ui/look", "ui/loop", "ui/markup", "ui/overlay", "ui/paint", "ui/status", "ui/tasks", "ui/words"},
	"ui/outer":                 {"ahp", "emulator", "themes", "ui/look", "ui/loop", "ui/paint", "ui/pane", "ui/status", "ui/tty", "ui/words"},
	"ui/recording":             {"ahp", "ui/loop", "ui/overlay", "ui/pane", "ui/status", "ui/words"},
	"ui/loop":                  {"ui/overlay", "ui/status", "ui/words"},
	"ui/overlay":               {"internal/approval", "ui/editor", "ui/look", "ui/paint", "ui/words"},
	"ui":                       {"internal/approval", "internal/pty", "ahp", "ahp/annotation", "ahp/changeset", "ahp/hosted", "ahp/palette", "ahp/resource", "emulator/...", "keymap", "themes", "ui/...", "internal/config/option", "internal/fileuri"},
	"cmd/tandemux":             {"..."},
	"bench":                    {"ahp", "internal/..."},

	"cmd/tandemux-keeper": {"host/keeper", "internal/daemon"},

	"internal/asciicast": {"internal/plaintext"},
	"internal/statefile": {},
	"internal/svg":       {"emulator/..."},
	"ui/player":          {"emulator/...", "themes", "internal/asciicast", "ui/look", "ui/paint", "ui/pane", "ui/words", "ui/tty", "ahp"},

	"internal/config/option": {"internal/spelling"},

	"host/agent/catalog": {"ahp", "host/agent", "host/agent/acp", "host/task/login", "host/shell", "internal/config/option", "internal/statefile"},

	"internal/hosts":   {"internal/config/strict", "internal/statefile"},
	"internal/hostcmd": {"ahp", "ahp/hosted", "internal/cli", "internal/endpoint", "internal/hosts", "internal/local", "internal/plaintext", "internal/termcmd", "ui/layout"},

	"internal/endpoint": {"ahp", "ahp/hosted", "ahp/palette", "internal/hosts", "internal/apiclient", "internal/cli", "internal/client", "internal/daemon", "internal/fileuri", "internal/jsonrpc", "internal/local", "internal/statefile", "internal/wsrpc", "host/listen"},

	"internal/doctor": {"ahp", "host/keeper", "host/listen", "host/sandbox", "internal/cli", "internal/endpoint", "internal/hosts", "internal/local", "internal/statefile", "internal/termcmd"},

	"internal/termcmd": {"ahp", "ahp/find", "ahp/hosted", "emulator/input", "host/auth", "host/history", "internal/approval", "internal/capture", "internal/cli", "internal/client", "internal/endpoint", "internal/fileuri", "internal/local", "internal/prompt", "internal/resurrect", "keymap", "ui/keys", "ui/layout/...", "ui/words", "internal/pace"},

	"hub/audit":        {"hub/front", "hub/server", "internal/statefile"},
	"hub/people":       {"host/auth", "hub/front", "hub/server", "internal/config/strict", "internal/statefile"},
	"hub/front":        {"host/auth", "host/listen", "internal/daemon", "internal/wsrpc"},
	"hub/server":       {"host/listen", "internal/statefile", "internal/pace"},
	"hub/token":        {"host/auth", "hub/front", "hub/server", "internal/hosts"},
	"hub/directory":    {"host/auth", "hub/front", "hub/server", "internal/hosts", "internal/plaintext", "internal/pace"},
	"hub/carry":        {"hub/directory", "hub/front", "hub/server", "internal/jsonrpc", "internal/linktest", "internal/wsrpc", "internal/pace"},
	"hub/join":         {"ahp", "host/front", "hub/carry", "hub/directory", "hub/server", "internal/client", "internal/jsonrpc", "internal/wsrpc", "internal/pace"},
	"hub/lease":        {"internal/fault"},
	"hub/files":        {"host/workspace/travel", "hub/server", "internal/fault", "internal/soak"},
	"hub/queue":        {"host/workspace/travel", "hub/files", "hub/lease", "hub/server", "internal/fault", "internal/pace"},
	"hub/webhook":      {"host/auth", "host/hooks", "host/task/...", "hub/front", "hub/lease", "hub/queue", "hub/server", "internal/pace"},
	"hub/worker":       {"host/front", "host/workspace/...", "hub/files", "hub/lease", "hub/queue", "internal/apiclient", "internal/fault", "internal/pace"},
	"hub/api":          {"host/auth", "host/task/...", "host/workspace/...", "hub/front", "hub/lease", "hub/queue", "hub/worker", "internal/fault", "internal/hosttest", "internal/linktest"},
	"cmd/tandemux-hub": {"..."},

	"internal/tmux/pane": {"ahp"},
	"internal/tmux":      {"ahp", "emulator", "host/guard", "host/listen", "internal/capture", "internal/cli", "internal/client", "internal/endpoint", "internal/fileuri", "internal/local", "internal/termcmd", "internal/tmux/pane", "keymap", "ui/layout"},

	"internal/runner": {"ahp", "internal/cli", "internal/client", "internal/endpoint", "internal/fileuri", "internal/plaintext", "internal/pace"},

	"internal/prompt": {"ahp", "internal/approval", "internal/cli", "internal/client", "internal/endpoint", "internal/fileuri", "internal/pace"},

	"internal/capture": {"ahp", "ahp/wire", "emulator", "emulator/engine", "internal/asciicast", "internal/cli", "internal/client", "internal/endpoint", "internal/svg", "themes", "ui/pane", "ui/player"},

	"internal/desk": {"ahp", "host/git", "internal/asciicast", "internal/capture", "internal/endpoint", "internal/fileuri", "internal/procgroup", "ui/recording", "ui/segments"},

	"ui/layout/layoutfile": {"ahp", "internal/config/strict", "ui/layout"},
}

// soleImporters names modules that one package alone may import, and why.
var soleImporters = map[string]string{
	"github.com/coder/websocket": "internal/wsrpc", // the transport is replaceable
	"github.com/hinshun/vt10x":   "emulator/vt10x", // its panics are fenced off there

	"github.com/modelcontextprotocol/go-sdk": "host/mcp", // what a tool is stays in one place

	"modernc.org/sqlite":      "host/task/store",          // what a record is stays in one place
	"github.com/jackc/pgx/v5": "host/task/store/postgres", // all of it is too large for the program

	"github.com/nats-io/nats-server/v2/server": "hub/server", // the main program links no NATS
}

// banned are imports that a tree of packages must not have; emutest, which
// reads goldens, is exempt.
var banned = map[string][]string{
	"ui":       {"net", "os/exec"},
	"ahp":      {"os", "net"},
	"emulator": {"os", "net", "time", "log/slog"},
	"keymap":   {"os", "net", "time"},
}

// leakChecked are the packages whose tests must fail on a left-over goroutine.
var leakChecked = []string{"host", "host/agent/acp", "host/hooks", "host/keeper", "host/terminal", "host/task", "host/task/api", "host/task/hook", "host/task/registry", "host/task/store", "hub/carry", "hub/webhook", "internal/apiclient", "internal/client", "internal/jsonrpc", "internal/wsrpc"}

// TestNoClock: the protocol's values know times of others only.
func TestNoClock(t *testing.T) {
	for _, s := range read(t) {
		if s.test || !matches("ahp/...", s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && !slices.Contains([]string{"UnixMilli", "Parse", "RFC3339"}, sel.Sel.Name) {
				t.Errorf("%s/%s uses time.%s; ahp has no clock", s.dir, s.name, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestNoTemplates: text/template calls methods by their names, for which the linker keeps
// all methods of all types, 3 MB of the program. It is out of reach in cobra, too, as long as no
// template is set.
func TestNoTemplates(t *testing.T) {
	for _, s := range read(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				if strings.HasSuffix(n.Path.Value, `/template"`) {
					t.Errorf("%s/%s imports %s", s.dir, s.name, n.Path.Value)
				}
			case *ast.SelectorExpr:
				if slices.Contains([]string{"SetVersionTemplate", "SetUsageTemplate", "SetHelpTemplate"}, n.Sel.Name) {
					t.Errorf("%s/%s calls %s", s.dir, s.name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

type source struct {
	dir, name string // relative to the root, slash separated
	file      *ast.File
	lines     int
	test      bool
	generated bool
	tool      bool // of the module that builds and tests the page, which cites and is cited alone
}

func read(t *testing.T) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no source found")
	}
	return slices.DeleteFunc(slices.Clone(all), func(s source) bool { return s.tool })
}

// pageTool is the module that builds the page for browsers.
const pageTool = "../../web/build"

// sources parses all files, once for all tests, which only look at them.
var sources = sync.OnceValues(func() (all []source, err error) {
	root := "../.."
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			n := d.Name()
			_, err := os.Stat(filepath.Join(p, "go.mod"))
			module := err == nil // of its own: a tool's
			if p != root && (module && p != pageTool || strings.HasPrefix(n, ".") || n == "testdata" || n == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte("//go:build ignore")) {
			return nil // a generator, run by hand
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{
			dir: path.Dir(rel), name: path.Base(rel), file: f,
			lines: bytes.Count(text, []byte("\n")), test: strings.HasSuffix(rel, "_test.go"),
			generated: ast.IsGenerated(f), tool: path.Dir(p) == pageTool,
		})
		return nil
	})
	return all, err
})

func matches(pattern, pkg string) bool {
	prefix, all := strings.CutSuffix(pattern, "...")
	if !all {
		return pattern == pkg
	}
	prefix = strings.TrimSuffix(prefix, "/")
	return prefix == "" || pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
}

func TestImportArrows(t *testing.T) {
	for _, s := range read(t) {
		allowed, known := arrows[s.dir]
		if !known {
			t.Errorf("%s/%s: package is not in the table of arrows", s.dir, s.name)
			continue
		}
		for _, spec := range s.file.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if owner, sole := soleImporters[imp]; sole && owner != s.dir {
				t.Errorf("%s/%s imports %s, which only %s may", s.dir, s.name, imp, owner)
			}
			for tree, list := range banned {
				if matches(tree+"/...", s.dir) && !s.test && s.dir != "emulator/emutest" && slices.Contains(list, imp) {
					t.Errorf("%s/%s imports %s, which nothing below %s may", s.dir, s.name, imp, tree)
				}
			}
			pkg, ours := strings.CutPrefix(imp, module+"/")
			if !ours || pkg == s.dir || s.test {
				continue
			}
			if !slices.ContainsFunc(allowed, func(p string) bool { return matches(p, pkg) }) {
				t.Errorf("%s/%s imports %s; arrows allow %v", s.dir, s.name, pkg, allowed)
			}
		}
	}
}

func TestOnePackageDocEach(t *testing.T) {
	docs := map[string][]string{}
	for _, s := range read(t) {
		if s.test {
			continue
		}
		docs[s.dir] = slices.Grow(docs[s.dir], 0)
		if s.file.Doc != nil {
			docs[s.dir] = append(docs[s.dir], s.name)
		}
	}
	for dir, files := range docs {
		if !slices.Equal(files, []string{"doc.go"}) {
			t.Errorf("%s: package documentation in %v, want it in doc.go alone", dir, files)
		}
	}
}

// TestCommentsNameTheirFunctions: a function that is renamed takes its comment along.
func TestCommentsNameTheirFunctions(t *testing.T) {
	for _, s := range read(t) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || s.test || fn.Doc.Text() == "" {
				continue
			}
			// A sentence may begin otherwise, but not with a part of the name, nor in lower case.
			name, first := fn.Name.Name, strings.TrimRight(strings.Fields(fn.Doc.Text())[0], ",:'")
			part := len(first) > 3 && strings.Contains(strings.ToLower(name), strings.ToLower(first))
			if first != name && first != name+"'s" && (part || first == strings.ToLower(first)) {
				t.Errorf("%s/%s: the comment of %s begins with %q", s.dir, s.name, name, first)
			}
		}
	}
}

func TestNoGrabBagNames(t *testing.T) {
	for _, s := range read(t) {
		stem := strings.TrimSuffix(strings.TrimSuffix(s.name, ".go"), "_test")
		for _, bad := range []string{"util", "utils", "helper", "helpers", "common", "types", "misc"} {
			if stem == bad || path.Base(s.dir) == bad {
				t.Errorf("%s/%s: name a file or package after what it holds", s.dir, s.name)
			}
		}
	}
}

func TestGoroutinesAreLeakChecked(t *testing.T) {
	checked := map[string]bool{}
	for _, s := range read(t) {
		if !s.test {
			continue
		}
		for _, spec := range s.file.Imports {
			if spec.Path.Value == strconv.Quote(module+"/internal/leak") {
				checked[s.dir] = true
			}
		}
	}
	for _, dir := range leakChecked {
		if !checked[dir] {
			t.Errorf("%s starts goroutines, but its tests do not use internal/leak", dir)
		}
	}
}

// The header of the Makefile tells of each target, in the order of .PHONY.
func TestMakefile(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var told, phony, defined []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "#   "); ok {
			told = append(told, strings.Fields(name)[0])
		}
		if names, ok := strings.CutPrefix(line, ".PHONY: "); ok {
			phony = append(phony, strings.Fields(names)...)
		} else if name, rest, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(rest, "=") && !strings.ContainsAny(name, " \t#$") {
			defined = append(defined, name)
		}
	}
	if !slices.Equal(told, phony) {
		t.Errorf("the header tells of %q, .PHONY of %q", told, phony)
	}
	slices.Sort(phony)
	slices.Sort(defined)
	if !slices.Equal(phony, defined) {
		t.Errorf(".PHONY names %q, rules are for %q", phony, defined)
	}
}
