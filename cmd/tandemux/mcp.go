package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/front"
	"tandemux/host/mcp"
	"tandemux/host/ptyws"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/plaintext"
	"tandemux/internal/termcmd"
	"tandemux/keymap"
)

func newMCPCommand() *cobra.Command {
	in := struct {
		Agent    string `flag:"agent" doc:"The agent's name, where its program does not say one"`
		Identity string `flag:"identity" doc:"Who it is when it comes back; else that is its name and directory"`
	}{Agent: "agent"}
	return cli.Command("mcp", `Serve terminals to an agent as MCP tools, on stdin and stdout
The agent speaks the Model Context Protocol: it gets tools to list, read and start
terminals, to run commands and to wait for them. The agent's program starts this; the
host is started when none runs.

What the agent starts is its own and in the background until it gives it to you,
or you take it. It can read your terminals, but not type into them unless you let
it. docs/agents.md says what it may run.

  claude mcp add tandemux -- tandemux mcp
  codex mcp add tandemux -- tandemux mcp`, &in, func(cmd *cobra.Command, _ []string) error {
		endpoint.FindRuntimeDir() // agents' programs hand on little of their environment
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find the working directory: %w", err)
		}
		start := dir
		if !p.Own() {
			start = "" // it is that machine's directories that count
		}
		within := os.Getenv("TANDEMUX_TERMINAL")
		if os.Getenv(agent.ChatEnv) != "" {
			within = "" // its chat is where it shows
		}
		return mcp.New(mcp.Options{
			Name: in.Agent, Version: version, Dir: start, NewURI: endpoint.NewTerminalURI, Chat: os.Getenv(agent.ChatEnv),
			Terminal: within,
			Open: func(ctx context.Context, name string) (mcp.Host, error) {
				who := ahp.AgentMeta{Name: agentName(name), Session: os.Getenv(agent.SessionEnv), Asks: true}
				who.Identity = identity(cmp.Or(in.Identity, os.Getenv(agent.ChatEnv), who.Name+"\x00"+dir))
				m := client.NewMirror(0)
				c, err := endpoint.Connect(ctx, p, endpoint.Options{Start: true, Reconnect: true, Sink: m, Kind: "mcp", Agent: &who})
				if err != nil {
					return nil, err
				}
				return asAgent(endpoint.NewConn(c, m, p), os.Getenv(agent.ChatEnv)), nil
			},
		}).ServeStdio(cmd.Context())
	})
}

// agentHost is an agent's connection as package mcp wants it.
type agentHost struct {
	*endpoint.Conn
	claim ahp.Claim
}

// identity is a short name of who an agent is, for this user on this machine.
func identity(of string) string {
	machine, _ := os.Hostname()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", machine, os.Getuid(), of))
	return hex.EncodeToString(sum[:8])
}

// asAgent is the connection of an agent; chat may be empty, its session too: it gets one of
// its own.
func asAgent(s *endpoint.Conn, chat ahp.URI) *agentHost {
	return &agentHost{s, ahp.Claim{Kind: ahp.ClaimSession, Session: s.Session(), Chat: chat}}
}

// agentName makes what a program calls itself fit for people.
func agentName(name string) string {
	name = plaintext.Clean(strings.ToValidUTF8(name, ""), "")
	for len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "")
	}
	if strings.TrimSpace(name) == "" {
		return "agent"
	}
	return name
}

func (a *agentHost) Claim() ahp.Claim { return a.claim }

// Call outlives the host, where its connection does.
func (a *agentHost) Call(ctx context.Context, method string, params, result any) error {
	return a.Carry(ctx, method, params, result)
}

// DispatchWait waits for a connection where there is none.
func (a *agentHost) DispatchWait(ctx context.Context, channel ahp.URI, act ahp.Action) (ahp.Envelope, error) {
	return a.CarryDispatch(ctx, channel, act)
}

// Press encodes keys for the modes of the terminal's program.
func (a *agentHost) Press(ctx context.Context, channel ahp.URI, names []string) (string, error) {
	var keys []keymap.Key
	for _, n := range names {
		k, err := keymap.Parse(n)
		if err != nil {
			return "", err
		}
		keys = append(keys, k)
	}
	data, err := termcmd.Encode(a.Conn, ctx, channel, keys)
	return string(data), err
}

// doors are the side protocols' entrances on the host's listeners.
func doors() []front.Door {
	tools := &mcp.HTTP{Version: version, NewURI: endpoint.NewTerminalURI, Connect: connectAgent}
	return []front.Door{tools.Door(), ptyws.Server{Version: version, NewURI: endpoint.NewTerminalURI}.Door()}
}

// connectAgent connects for an agent that came by HTTP.
func connectAgent(ctx context.Context, c front.Caller, name string) (mcp.Host, error) {
	m := client.NewMirror(0)
	cl, err := client.Connect(ctx, client.Options{
		Dial: c.Dial, ClientID: "tandemux-mcp-" + c.Name(), Sink: m,
		Info:  ahp.Implementation{Name: "tandemux-mcp", Version: version},
		Agent: &ahp.AgentMeta{Name: agentName(name), Asks: true},
	})
	if err != nil {
		return nil, err
	}
	return asAgent(endpoint.NewConn(cl, m, endpoint.Endpoint{Dirs: local.FindDirs()}), ""), nil
}
