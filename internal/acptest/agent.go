package acptest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Main runs a script over stdin and stdout and returns the exit code.
func Main(script string) int {
	a := &scripted{
		out: bufio.NewWriter(os.Stdout), answers: map[string]chan message{}, results: map[string]json.RawMessage{},
		parts:     parts{on: map[string]string{}, version: "1", caps: "{}", auth: "[]", session: "{}"},
		cancelled: make(chan struct{}),
	}
	a.parse(script)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		var m message
		if json.Unmarshal(line, &m) == nil {
			a.handle(m)
		}
		if err != nil {
			a.mu.Lock()
			deaf := a.deaf
			a.mu.Unlock()
			for deaf {
				time.Sleep(time.Hour)
			}
			return 0
		}
	}
}

type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type scripted struct {
	parts

	mu        sync.Mutex
	out       *bufio.Writer
	answers   map[string]chan message
	results   map[string]json.RawMessage
	asked     map[string]string // ids by name
	last      int
	turn      int
	id, cwd   string
	text      string
	usage     string // JSON, told with the end of the turn
	servers   string
	meta      string
	cancelled chan struct{}
	deaf      bool
	mcp       *mcpServer    // nil until it is needed
	prompted  chan struct{} // closed by the next prompt
}

func die(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "scripted agent: "+format+"\n", args...)
	os.Exit(97)
}

func (a *scripted) write(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.WriteString(line)
	a.out.WriteByte('\n')
	a.out.Flush()
}

func (a *scripted) send(m message) {
	m.JSONRPC = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		die("encode: %v", err)
	}
	a.write(string(b))
}

func (a *scripted) stopListening() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	a.mu.Lock()
	a.deaf = true
	a.mu.Unlock()
}

// handle deals with a message of the client's.
func (a *scripted) handle(m message) {
	if m.Method == "" {
		a.mu.Lock()
		ch := a.answers[string(m.ID)]
		delete(a.answers, string(m.ID))
		a.mu.Unlock()
		if ch != nil {
			ch <- m
		}
		return
	}
	if what, ok := a.on[m.Method]; ok {
		a.instead(m, what)
		return
	}
	var p struct {
		SessionID string          `json:"sessionId"`
		Cwd       string          `json:"cwd"`
		MethodID  string          `json:"methodId"`
		ModeID    string          `json:"modeId"`
		ConfigID  string          `json:"configId"`
		Value     any             `json:"value"`
		Servers   json.RawMessage `json:"mcpServers"`
		Meta      json.RawMessage `json:"_meta"`
		Prompt    []struct {
			Type, Text, URI string
		} `json:"prompt"`
	}
	json.Unmarshal(m.Params, &p)
	switch m.Method {
	case "initialize":
		a.send(message{ID: m.ID, Result: json.RawMessage(fmt.Sprintf(
			`{"protocolVersion":%s,"agentCapabilities":%s,"authMethods":%s,"agentInfo":{"name":"scripted","title":"Scripted agent","version":"1.2.3"}}`, a.version, a.caps, a.auth))})
	case "session/new", "session/load", "session/resume":
		a.mu.Lock()
		a.servers, a.meta = string(p.Servers), string(p.Meta)
		a.mu.Unlock()
		a.opened(m, p.SessionID, p.Cwd)
	case "session/prompt":
		text := ""
		for _, b := range p.Prompt {
			text += b.Type + ":" + b.Text + b.URI + " "
		}
		a.begin(m, strings.TrimSpace(text))
	case "session/cancel":
		a.mu.Lock()
		if !a.deaf {
			select {
			case <-a.cancelled:
			default:
				close(a.cancelled)
			}
		}
		a.mu.Unlock()
	case "session/set_config_option":
		v, _ := json.Marshal(p.Value)
		a.send(message{ID: m.ID, Result: json.RawMessage(fmt.Sprintf(
			`{"configOptions":[{"id":%q,"name":"Set","type":"select","currentValue":%s,"options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]}`, p.ConfigID, v))})
	default:
		if m.ID != nil {
			a.send(message{ID: m.ID, Result: json.RawMessage("{}")})
		}
	}
}

// instead does what the script says about a method.
func (a *scripted) instead(m message, what string) {
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "exit":
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
	case "error":
		a.fail(m, rest)
	case "hang":
	default:
		die("on %s %s is not understood", m.Method, what)
	}
}

// fail answers with an error: N TEXT.
func (a *scripted) fail(m message, what string) {
	number, text, _ := strings.Cut(what, " ")
	code, _ := strconv.Atoi(number)
	a.send(message{ID: m.ID, Error: &failure{code, text}})
}

// opened answers session/new, load and resume.
func (a *scripted) opened(m message, id, cwd string) {
	a.mu.Lock()
	a.cwd, a.id = cwd, "s1"
	if m.Method != "session/new" {
		a.id = id
	}
	a.mu.Unlock()
	if m.Method == "session/load" { // The history is replayed.
		a.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"replayed question"}}`)
		a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"replayed answer"}}`)
	}
	result := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(a.session), &result); err != nil {
		die("session %s: %v", a.session, err)
	}
	if m.Method == "session/new" {
		result["sessionId"] = json.RawMessage(strconv.Quote(a.id))
	}
	b, _ := json.Marshal(result)
	a.send(message{ID: m.ID, Result: b})
}

func (a *scripted) update(body string) {
	a.mu.Lock()
	id := a.id
	a.mu.Unlock()
	if !json.Valid([]byte(body)) {
		die("not JSON: %s", body)
	}
	a.send(message{Method: "session/update", Params: json.RawMessage(fmt.Sprintf(`{"sessionId":%q,"update":%s}`, id, body))})
}

// begin runs the next prompt's script.
func (a *scripted) begin(m message, text string) {
	a.mu.Lock()
	a.text = text
	if a.prompted != nil {
		close(a.prompted)
	}
	a.prompted = make(chan struct{})
	a.cancelled = make(chan struct{})
	a.asked = map[string]string{}
	var steps []string
	if n := len(a.prompts); n > 0 {
		steps = a.prompts[min(a.turn, n-1)]
	}
	a.turn++
	a.mu.Unlock()
	go func() {
		for _, s := range steps {
			if a.step(m, s) {
				return
			}
		}
		a.stop(m, "end_turn")
	}()
}

func (a *scripted) stop(m message, reason string) {
	a.mu.Lock()
	select {
	case <-a.cancelled:
		reason = "cancelled"
	default:
	}
	usage := cmp.Or(a.usage, "null")
	a.usage = ""
	a.mu.Unlock()
	a.send(message{ID: m.ID, Result: json.RawMessage(fmt.Sprintf(`{"stopReason":%q,"usage":%s}`, reason, usage))})
}

// step does a line of a script and reports whether the prompt was answered.
func (a *scripted) step(m message, line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	rest = a.expand(rest)
	switch word {
	case "say", "think":
		kind := map[string]string{"say": "agent_message_chunk", "think": "agent_thought_chunk"}[word]
		text, _ := json.Marshal(strings.ReplaceAll(rest, `\n`, "\n"))
		a.update(fmt.Sprintf(`{"sessionUpdate":%q,"content":{"type":"text","text":%s}}`, kind, text))
	case "update":
		a.update(rest)
	case "call":
		a.join(a.ask(rest))
	case "go":
		a.ask(rest)
	case "join":
		a.join(rest)
	case "mcp":
		parts := strings.SplitN(rest, " ", 3)
		if len(parts) < 3 || !json.Valid([]byte(parts[2])) {
			die("mcp needs a name, a method and JSON: %s", rest)
		}
		a.keep(parts[0], a.server().ask(parts[1], parts[2]))
	case "shell":
		name, line, _ := strings.Cut(rest, " ")
		out, err := exec.Command(cmp.Or(os.Getenv("SHELL"), "/bin/sh"), "-c", line).CombinedOutput()
		said, _ := json.Marshal(fmt.Sprintf("%s %v", out, err))
		a.keep(name, message{Result: said})
	case "noted":
		a.server().await(rest)
	case "show":
		text, _ := json.Marshal(string(a.result(rest)))
		a.update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, text))
	case "expect":
		if name, pattern, _ := strings.Cut(rest, " "); !regexp.MustCompile(pattern).Match(a.result(name)) {
			die("%s is %s, expected %s", name, a.result(name), pattern)
		}
	case "cancel":
		a.send(message{Method: "$/cancel_request", Params: json.RawMessage(fmt.Sprintf(`{"requestId":%s}`, a.asked[rest]))})
	case "await":
		a.mu.Lock()
		on := map[string]chan struct{}{"cancel": a.cancelled, "prompt": a.prompted}[rest]
		a.mu.Unlock()
		<-on
	case "usage":
		a.mu.Lock()
		a.usage = rest
		a.mu.Unlock()
	case "stop":
		a.stop(m, rest)
		return true
	case "error":
		a.fail(m, rest)
		return true
	default:
		a.misbehave(word, rest)
	}
	return false
}

// misbehave does the lines that no good agent would.
func (a *scripted) misbehave(word, rest string) {
	n, _ := strconv.Atoi(rest)
	switch word {
	case "raw":
		a.write(rest)
	case "garbage":
		a.garbage(rest)
	case "large":
		a.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
			strings.Repeat("x", n) + `"}}}}`)
	case "flood":
		for i := range n {
			a.update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d "}}`, i))
		}
	case "stderr":
		fmt.Fprintln(os.Stderr, rest)
	case "child":
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			die("child: %v", err)
		}
		os.WriteFile(rest, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	case "deaf":
		a.stopListening()
	case "exit":
		os.Exit(n)
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hang":
		for {
			time.Sleep(time.Hour) // Not select{}: the runtime would call it a deadlock.
		}
	default:
		die("%s %s is not understood", word, rest)
	}
}

func (a *scripted) garbage(size string) {
	n, _ := strconv.Atoi(size)
	a.mu.Lock()
	defer a.mu.Unlock()
	piece := strings.Repeat("g", 64<<10)
	for ; n > 0; n -= len(piece) {
		a.out.WriteString(piece[:min(n, len(piece))])
	}
	a.out.Flush()
}

// ask sends NAME METHOD JSON and returns the name.
func (a *scripted) ask(line string) string {
	parts := strings.SplitN(line, " ", 3)
	if len(parts) < 3 || !json.Valid([]byte(parts[2])) {
		die("a call needs a name, a method and JSON: %s", line)
	}
	a.mu.Lock()
	a.last++
	id := strconv.Itoa(a.last)
	ch := make(chan message, 1)
	a.answers[id] = ch
	a.answers[parts[0]] = ch
	a.asked[parts[0]] = id
	a.mu.Unlock()
	a.send(message{ID: json.RawMessage(id), Method: parts[1], Params: json.RawMessage(parts[2])})
	return parts[0]
}

// keep keeps an answer, or an error, under a name.
func (a *scripted) keep(name string, m message) {
	r := m.Result
	if m.Error != nil {
		r, _ = json.Marshal(m.Error)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results[name] = r
}

func (a *scripted) join(name string) {
	a.mu.Lock()
	ch := a.answers[name]
	a.mu.Unlock()
	if ch == nil {
		die("there is no call %s", name)
	}
	a.keep(name, <-ch)
}

func (a *scripted) result(name string) json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.results[name]
}

var variables = regexp.MustCompile(`\$[A-Za-z]\w*(\.\w+)?`)

func (a *scripted) expand(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return variables.ReplaceAllStringFunc(text, func(v string) string {
		own := map[string]string{
			"$SESSION": a.id, "$CWD": a.cwd, "$DIR": a.cwd, "$PROMPT": a.text, "$SERVERS": a.servers, "$META": a.meta,
			"$ARGS": strings.Join(os.Args[1:], " "),
		}
		if text, is := own[v]; is {
			return text
		}
		name, member, _ := strings.Cut(v[1:], ".")
		var all map[string]any
		if r, ok := a.results[name]; ok && json.Unmarshal(r, &all) == nil && member != "" {
			return fmt.Sprint(all[member])
		}
		return cmp.Or(os.Getenv(v[1:]), v)
	})
}
