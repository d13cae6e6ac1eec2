package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// mcpServer is a running MCP server of those that the agent was given.
type mcpServer struct {
	in io.Writer

	mu    sync.Mutex
	last  int
	wait  map[string]chan message
	notes map[string]chan struct{} // by method, each closed when one has come
}

// server starts the first of the MCP servers, if it does not run, and says hello.
func (a *scripted) server() *mcpServer {
	a.mu.Lock()
	s, list := a.mcp, a.servers
	a.mu.Unlock()
	if s != nil {
		return s
	}
	var servers []struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Env     []struct {
			Name, Value string
		} `json:"env"`
	}
	if err := json.Unmarshal([]byte(list), &servers); err != nil || len(servers) == 0 {
		die("there is no MCP server: %s", list)
	}
	cmd := exec.Command(servers[0].Command, servers[0].Args...)
	cmd.Stderr = os.Stderr
	for _, v := range servers[0].Env { // And nothing else, as some agents do.
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		die("mcp: %v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		die("mcp: %v", err)
	}
	if err := cmd.Start(); err != nil {
		die("mcp: %v", err)
	}
	s = &mcpServer{in: in, wait: map[string]chan message{}, notes: map[string]chan struct{}{}}
	go s.read(out)
	a.mu.Lock()
	a.mcp = s
	a.mu.Unlock()
	s.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"scripted","version":"1"}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *mcpServer) read(out io.Reader) {
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		var m message
		if json.Unmarshal(line, &m) == nil {
			s.mu.Lock()
			if m.Method != "" {
				select {
				case <-s.note(m.Method):
				default:
					close(s.note(m.Method))
				}
			} else if ch := s.wait[string(m.ID)]; ch != nil {
				ch <- m
			}
			s.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// note is the mark that a notification has come. The caller holds mu.
func (s *mcpServer) note(method string) chan struct{} {
	if s.notes[method] == nil {
		s.notes[method] = make(chan struct{})
	}
	return s.notes[method]
}

func (s *mcpServer) send(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.in, line)
}

// ask asks the server and waits for the answer.
func (s *mcpServer) ask(method, params string) message {
	ch := make(chan message, 1)
	s.mu.Lock()
	s.last++
	id := strconv.Itoa(s.last)
	s.wait[id] = ch
	s.mu.Unlock()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return <-ch
}

func (s *mcpServer) await(method string) {
	s.mu.Lock()
	ch := s.note(method)
	s.mu.Unlock()
	<-ch
	s.mu.Lock()
	delete(s.notes, method)
	s.mu.Unlock()
}
