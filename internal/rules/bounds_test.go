package rules

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bounds are what pages say with numbers in it. In braces stand a constant, or a field of
// a literal, of a package and, where it is none of one, the unit: KiB, MiB, GiB, "time"
// as Go writes it, s, min, or "words" as people do.
var bounds = map[string][]string{
	"README.md": {
		"Wait {ui/keys.hintTime words} after the prefix",
	},
	"docs/agents.md": {
		"Keys count {ui/chat.armTime words} after a question appears",
		"ends after {host/agent/catalog.DefaultIdle words} without a turn",
		"does not answer within {host/agent.DefaultStart words}, or does not cancel within {host/agent/acp.Grace words}, is ended",
		"the newest {host/pool.HistoryBytes KiB} of output",
		"A socket takes up to {host/ptyws.maxAttached} terminals",
		"a command to its end, for {host/mcp.patience seconds}",
	},
	"docs/configuration.md": {
		"all have {emulator/native.maxHistoryBytes MiB}, above 65,536 lines 512 bytes each", // their quotient
		"\"output\" is output after {host/activity.silence words} of silence",
	},
	"docs/daily.md": {
		"{ui/keys.hintTime words} after the prefix",
		"**Pane numbers** show for {ui/panes.numbersTime seconds}",
		"output after {host/activity.silence words} of silence",
		"from {ui/pane.noteTime words} on",
	},
	"docs/deploying.md": {
		"has {host/task.cancelTime words}",
		"{host/task/registry.hookTime words} at most",
		"{host/task/registry.MaxCodeFiles} files and {host/task/registry.MaxCodeBytes MiB} at most",
		"The newest {host/task/store.MaxLogs} lines are kept",
	},
	"docs/files.md": {
		"{host/workspace/filetree.Files words} files at most, {host/task/api.archiveLimit GiB} in all, {host/task/api.fileLimit GiB} each",
	},
	"docs/from-tmux.md": {
		"| clipboard | OSC 52, writing only, up to {emulator.MaxClipboard MiB} |",
		"A terminal keeps {emulator/native.maxImages} of them in {emulator/native.maxImagesSize MiB}; one has {emulator/native.maxImageBytes MiB} and {emulator/native.maxImageSide} pixels a side at most",
	},
	"docs/http.md": {
		"answered the same for {host/task/store.repliesLast words}",
		"more than {host/task/api.maxContent MiB}, where",
		"newest {host/task/store.MaxStream} events, or {host/task/store.MaxStreamRaw MiB}",
		"A reader that takes nothing for {host/task/api.writeTime seconds} is let go",
	},
	"docs/keys.md": {
		"repeats without the prefix for {keymap.RepeatTime words}",
	},
	"docs/protocol.md": {
		"`before` | text to show first, at most {ahp.MaxBefore MiB}",
		"`scrollback` | lines to keep, 0 to {ahp.MaxScrollback}",
		"at most every {host/files.gather time}",
		"More than {host/files.maxPending} at once",
		"One that is away for {host.ClientGrace s}, or takes {host.ToolTime min}, has failed",
		"the newest 100 to {host/sessions.windowTurns} turns, or 1 to {host/sessions.windowBytes MiB}; `fetchTurns` gives up to {host/sessions.olderBytes MiB} before",
		"Files of more than {host/changes.maxCompared MiB}, or {host/changes.maxRead MiB} together, count as binary; more than {host/changes.maxFiles} are an error",
		"for {host/core.unreadFor s} at most",
		"as fits into {host/terminal.MaxWire MiB} of JSON",
		"the first {host/terminal/output.HeadBytes KiB} and the last {host/terminal/output.TailBytes KiB} are kept",
		"\none message from a client | {host.FrameBytes MiB}, ",
		"\nwaiting for one connection | {host.QueueBytes MiB}, ",
		"\nof that, what it did not ask for | {host.LagBytes MiB}, down to {host/outbox.lagLeast KiB} where more than {host/outbox.lagAll MiB} may wait for all: ",
		"\nstates being given at the same time | {host/requests.maxBatches} batches, the others wait for the next one, {host/requests.stateTime s} for each that takes its own slowly; a `reconnect` up to {host/requests.maxPause s} more, ",
		"\nreplay log of a channel; all of them | {host.ReplayBytes MiB} of output and {host.ReplayCount} actions; {host.ReplayAll MiB}, beyond which the largest is halved\n",
		"\none reply with snapshots or replayed actions | {host.ReplyBytes MiB}\n",
		"\nconnections, terminals, layouts | {host.Connections}, {host.Terminals}, {host.Layouts}\n",
		"\nsubscriptions of a connection | {host.Subscriptions}\n",
		"\nclientIds remembered for reconnect | {host.Clients}\n",
		"\nrequests of a connection | {host.RequestRate} a second, {host.RequestBurst} at once\n",
		"\nactions of a connection | {host.DispatchRate} a second, {host.DispatchBurst} at once\n",
		"\nwaiting for the holder's connection before its pty is slowed | {host.HoldBytes KiB}, for {host.StallTime s} at most",
		"\na connection that takes nothing | {internal/wsrpc.writeWait s}, ",
		"\nnesting of a message; an id | {internal/jsonrpc.DefaultDepth} deep; {internal/jsonrpc.maxID KiB}\n",
		"\nsize of a terminal | 1 to {emulator.MaxCols} columns and rows, {host/terminals.maxCells} cells\n",
		"\nretained output of a terminal | {host/terminal.defaultContent MiB} raw or {emulator.DefaultHistory} lines of history\n",
		"\none input, one feed | {host/terminals.maxInput MiB}\n",
		"\ncommands remembered of a terminal | {host/terminal.maxCommands}, with {host/terminal.maxOutputs MiB} of output and {host/terminal.maxLines KiB} of command lines\n",
		"\nwaits and runs of a connection; a pattern | {host/commands.maxWaits}; {host/commands.maxPattern KiB}\n",
		"\na file that is read, entries of a directory | {host/files.maxFileBytes MiB}, {host/files.maxEntries}\n",
		"\nwhat is written at once; a file that is changed within; a copy | {host/files.maxFileBytes MiB}; {host/files.maxRewritten MiB}; {host/files.maxCopied GiB}\n",
		"\nentries of a directory that is copied, or removed | {host.TreeEntries}\n",
		"\nwatches of a connection; of all | {host.Watches}; {host.WatchesAll}\n",
		"\ndirectories of a watch; of all; entries that are looked at for them | {host.WatchedDirs}; {host.WatchedDirsAll}; {host.WatchEntries}\n",
		"\npatterns of a watch, of each kind | {host/files.maxPatterns} of {host/files.maxPattern} bytes, each with {host/files.maxBraces} braces at most\n",
		"\na command in the list of terminals | {host/terminals.maxListed} bytes, cut\n",
		"\nsessions; chats of one; clients that take part; their tools | {host.Sessions}; {host/sessions.maxChats}; {host/sessions.maxActiveClients}; {host/sessions.maxClientTools}\n",
		"\nwhat an agent says in one turn | {host.TurnBytes MiB} and {host/sessions.maxTurnParts} parts, ",
		"\na message; a tool's input or one text of its result | {host/sessions.maxMessage MiB}; {host/agent/words.MaxText KiB}, cut\n",
		"\nannotations of a session; entries of one; a text of one; all of them | {host/annotations.maxAnnotations}; {host/annotations.maxEntries}; {host/annotations.maxText KiB}; {host/annotations.maxAll MiB}\n",
		"\nqueued messages; attachments of one; open questions of a turn | {host/sessions.maxQueued}; {host/sessions.maxAttachments}; {host/sessions.maxOpenAsks}\n",
		"\nan agent's start; its silence while no tool call runs | {host.AgentStart s}; {host.AgentSilence min}\n",
	},
	"docs/remote.md": {
		"is more than {ui/typing.nearTime time} away",
		"Over more than {ui/typing.farTime time}, and where it stands for {ui/predict.unsure time}",
		"says nothing for {internal/endpoint.alive s} is asked",
		"Without an answer for {internal/endpoint.giveUp s} it is given up",
	},
	"docs/hosts.md": {
		"ask all hosts at once, for {internal/endpoint.eachTime s} at most",
		"at the latest after {cmd/tandemux.lastPause words}",
	},
	"docs/fleet.md": {
		"does not answer within {hub/webhook.postTime words}, or with",
		"An event has at most {hub/queue.MaxContent KiB}, an answer of a host that passes through {hub/queue.MaxCall KiB}",
		"it has not for {hub/directory.AwayTime s}",
		"take up to {host/workspace/travel.MaxSize GiB} on each way, those of all tasks of a person {hub/queue.DefaultBytes GiB} at the hub",
	},
	"docs/sandbox.md": {
		"{host/task/login.maxFiles} files and {host/task/login.maxBytes MiB} at most",
	},
	"docs/scripting.md": {
		"{host/hooks.maxWaiting} events wait for it",
		"for `timeout` seconds at most ({host/hooks.defaultTimeout s})",
		"output after {host/activity.silence words} of silence",
	},
	"docs/browser.md": {
		"once, within {host/web.OfferTime words}",
		"a command of {host/push.long words} or more",
		"only after a passkey, which holds for {host/web.provedFor words}",
	},
	"docs/security.md": {
		"Its newest {host/audit.maxBytes MiB} are kept",
	},
	"docs/tasks.md": {
		"| messages that wait, of a task | {host/task/store.MaxPending} |",
		"| a message | {host/task/store.MaxContent MiB} |",
		"| `--params` | {host/task/store.MaxParams KiB} |",
		"| sessions of a host, tasks among them | {host.Sessions} |",
	},
	"docs/troubleshooting.md": {
		"Keys typed in its first {ui/typing.keepTime words} are sent",
	},
	"docs/contributing/threats.md": {
		"after {host/auth.freeFailures words} failures an address waits",
		"{host/auth.maxAddresses} addresses are remembered",
		"{host.HeaderTime s} and {host/front.headerBytes KiB} for a header",
	},
}

// TestNumbersOnPages: what pages for users say in numbers is what the code has.
func TestNumbersOnPages(t *testing.T) {
	known, used := constants(t), map[string]bool{}
	compared := func(page, said string) bool {
		used[page+": "+said] = true
		return examples[page+": "+said]
	}
	measure := regexp.MustCompile(`\b(?:\d[\d,.]*|half a|an?|one|two|three|four|five|ten|twenty|thirty) (?:[KMG]i?B|(?:milli)?seconds?|minutes?|hours?|days?|ms|s|min|bytes|pixels)\b|\b(?:\d[\d,]*|ten|hundred|thousand|million) (?:files|lines|times|tokens|sessions|terminals|events|turns|messages)\b`)
	for page, sentences := range bounds {
		text := flow(readFile(t, page))
		for _, s := range sentences {
			want := regexp.MustCompile(`\{([\w/]+\.\w+)(?: (\w+))?\}`).ReplaceAllStringFunc(s, func(all string) string {
				name, unit, _ := strings.Cut(strings.Trim(all, "{}"), " ")
				if known[name] == nil {
					t.Fatalf("there is no constant %s", name)
				}
				return worded(t, known[name], unit)
			})
			if !strings.Contains(text, flow(want)) {
				t.Errorf("%s does not say %q", page, want)
			}
			text = strings.ReplaceAll(text, flow(want), "\n")
		}
		if page == "docs/keys.md" || strings.HasPrefix(page, "docs/contributing/") {
			continue
		}
		for _, m := range measure.FindAllStringIndex(text, -1) {
			if said := text[m[0]:m[1]]; !compared(page, said) {
				t.Errorf("%s: nothing compares %q: …%s…", page, said, text[max(0, m[0]-40):min(len(text), m[1]+40)])
			}
		}
	}
	for _, page := range files(t, ".md") {
		if _, has := bounds[page]; strings.HasPrefix(page, "docs/") && !strings.HasPrefix(page, "docs/contributing/") && !has {
			for _, said := range measure.FindAllString(flow(readFile(t, page)), -1) {
				if !compared(page, said) {
					t.Errorf("%s: nothing compares %q", page, said)
				}
			}
		}
	}
	for example := range examples {
		if !used[example] {
			t.Errorf("no page says %q", example)
		}
	}
}

// examples are numbers on pages that bound nothing, or that code does not have.
var examples = map[string]bool{
	"README.md: ten minutes":          true, // to read
	"README.md: a second":             true, // TestChaos
	"docs/configuration.md: a minute": true, // a rate, as is the next
	"docs/agents.md: a minute":        true,
	"docs/protocol.md: 115 times":     true, // measured
	"docs/fleet.md: a second":         true, // what 10,000 hosts would take, as are the next three
	"docs/fleet.md: 23 ms":            true,
	"docs/fleet.md: four minutes":     true,
	"docs/fleet.md: 16 MiB":           true,
}

// flow is a page without blocks of code, its paragraphs and rows a line each.
func flow(page string) string {
	page = strings.ReplaceAll(page, "\nHalf a", "\nhalf a")
	page = regexp.MustCompile("(?s)\n```.*?\n```\n").ReplaceAllString(page, "\n")
	page = regexp.MustCompile(`\n[^\n|]*(?:\n[^\n|#]+)+`).ReplaceAllStringFunc(page, func(s string) string { return "\n" + oneLine(s) })
	return page
}

// constants are the values of all packages' constants, and of numbers in literals' fields,
// by package and name. What has several values has none.
func constants(t *testing.T) map[string]constant.Value {
	t.Helper()
	exprs := map[string][]ast.Expr{}
	for _, s := range read(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i := range min(len(n.Names), len(n.Values)) {
					exprs[s.dir+"."+n.Names[i].Name] = append(exprs[s.dir+"."+n.Names[i].Name], n.Values[i])
				}
			case *ast.KeyValueExpr:
				if key, is := n.Key.(*ast.Ident); is {
					exprs[s.dir+"."+key.Name] = append(exprs[s.dir+"."+key.Name], n.Value)
				}
			case *ast.AssignStmt: // field = cmp.Or(field, default)
				field, is := n.Lhs[0].(*ast.SelectorExpr)
				or, call := n.Rhs[0].(*ast.CallExpr)
				if f, sel := callee(or, call); is && sel && f == "Or" {
					exprs[s.dir+"."+field.Sel.Name] = append(exprs[s.dir+"."+field.Sel.Name], or.Args[len(or.Args)-1])
				}
			}
			return true
		})
	}
	var value func(dir string, e ast.Expr) constant.Value
	all := map[string]constant.Value{}
	value = func(dir string, e ast.Expr) constant.Value {
		switch e := e.(type) {
		case *ast.BasicLit:
			return constant.MakeFromLiteral(e.Value, e.Kind, 0)
		case *ast.ParenExpr:
			return value(dir, e.X)
		case *ast.Ident:
			return all[dir+"."+e.Name]
		case *ast.SelectorExpr:
			pkg, _ := e.X.(*ast.Ident)
			for unit, d := range map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour} {
				if pkg != nil && pkg.Name == "time" && e.Sel.Name == unit {
					return constant.MakeInt64(int64(d))
				}
			}
			if pkg != nil {
				return all[dir+"/"+pkg.Name+"."+e.Sel.Name]
			}
		case *ast.BinaryExpr:
			x, y := value(dir, e.X), value(dir, e.Y)
			if x == nil || y == nil || x.Kind() != constant.Int || y.Kind() != constant.Int {
				return nil
			}
			switch e.Op {
			case token.SHL:
				n, _ := constant.Uint64Val(y)
				return constant.Shift(x, token.SHL, uint(n))
			case token.ADD, token.SUB, token.MUL:
				return constant.BinaryOp(x, e.Op, y)
			}
		}
		return nil
	}
	for range 3 { // those that are made of others
		for name, list := range exprs {
			dir := name[:strings.LastIndex(name, ".")]
			for _, e := range list {
				if v := value(dir, e); v != nil && v.Kind() == constant.Int {
					all[name] = v
				}
			}
		}
	}
	return all
}

// callee is the method or function that a call names behind a dot.
func callee(call *ast.CallExpr, is bool) (string, bool) {
	if !is {
		return "", false
	}
	f, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return "", false
	}
	return f.Sel.Name, true
}

// worded is a value as a page writes it.
func worded(t *testing.T, v constant.Value, unit string) string {
	t.Helper()
	n, _ := constant.Int64Val(v)
	d := time.Duration(n)
	switch unit {
	case "":
		return grouped(n)
	case "KiB":
		return grouped(n>>10) + " KiB"
	case "MiB":
		return grouped(n>>20) + " MiB"
	case "GiB":
		return grouped(n>>30) + " GiB"
	case "time":
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case "s":
		return fmt.Sprintf("%.0f s", d.Seconds())
	case "seconds":
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case "min":
		return fmt.Sprintf("%.0f min", d.Minutes())
	case "words":
		words := map[int64]string{
			int64(500 * time.Millisecond): "half a second", int64(time.Second): "a second", int64(10 * time.Second): "ten seconds",
			int64(time.Minute): "a minute", int64(10 * time.Minute): "ten minutes", int64(30 * time.Minute): "half an hour", int64(24 * time.Hour): "a day",
			10: "ten", 1_000_000: "a million",
		}
		if words[n] != "" {
			return words[n]
		}
	}
	t.Fatalf("%d has no words in %q", n, unit)
	return ""
}

// grouped writes a number with commas.
func grouped(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
