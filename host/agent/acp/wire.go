package acp

import (
	"encoding/json"

	"tandemux/host/agent"
)

// protocolVersion is the version of ACP that this package speaks.
const protocolVersion = 1

// Error codes of ACP beyond JSON-RPC's.
const (
	codeCancelled    = -32800
	codeAuthRequired = -32000
	codeNotFound     = -32002
)

// Methods of the agent.
const (
	methodInitialize   = "initialize"
	methodAuthenticate = "authenticate"
	methodNew          = "session/new"
	methodLoad         = "session/load"
	methodResume       = "session/resume"
	methodFork         = "session/fork" // in drafts of ACP
	methodPrompt       = "session/prompt"
	methodCancel       = "session/cancel"
	methodSetMode      = "session/set_mode"
	methodSetModel     = "session/set_model" // of agents without configuration options
	methodSetConfig    = "session/set_config_option"
)

// Methods of this client.
const (
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
	methodRead       = "fs/read_text_file"
	methodWrite      = "fs/write_text_file"
	methodCreate     = "terminal/create"
	methodOutput     = "terminal/output"
	methodWait       = "terminal/wait_for_exit"
	methodKill       = "terminal/kill"
	methodRelease    = "terminal/release"
	methodCancelled  = "$/cancel_request"
)

type (
	implementation struct {
		Name    string `json:"name"`
		Title   string `json:"title,omitempty"`
		Version string `json:"version"`
	}
	initializeParams struct {
		ProtocolVersion    int                `json:"protocolVersion"`
		ClientCapabilities clientCapabilities `json:"clientCapabilities"`
		ClientInfo         implementation     `json:"clientInfo"`
	}
	clientCapabilities struct {
		FS struct {
			ReadTextFile  bool `json:"readTextFile"`
			WriteTextFile bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal bool `json:"terminal"` // P1
		Auth     struct {
			Terminal bool `json:"terminal"`
		} `json:"auth"`
		Elicitation struct {
			Form struct{} `json:"form"`
			URL  struct{} `json:"url"`
		} `json:"elicitation"`
		Session struct {
			ConfigOptions struct {
				Boolean struct{} `json:"boolean"`
			} `json:"configOptions"`
		} `json:"session"`
		// Meta asks for agents' extensions: commands for logging in, and output of their own shells.
		Meta map[string]bool `json:"_meta,omitempty"`
	}
	initializeResult struct {
		ProtocolVersion   int               `json:"protocolVersion"`
		AgentCapabilities agentCapabilities `json:"agentCapabilities"`
		AgentInfo         *implementation   `json:"agentInfo"`
		AuthMethods       []authMethod      `json:"authMethods"`
	}
	agentCapabilities struct {
		// Meta has the extensions of claude-agent-acp.
		Meta struct {
			Claude struct {
				PromptQueueing bool `json:"promptQueueing"`
			} `json:"claudeCode"`
		} `json:"_meta"`
		LoadSession        bool `json:"loadSession"`
		PromptCapabilities struct {
			Image           bool `json:"image"`
			Audio           bool `json:"audio"`
			EmbeddedContext bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		SessionCapabilities struct {
			Resume                json.RawMessage `json:"resume"`
			Fork                  json.RawMessage `json:"fork"`
			AdditionalDirectories json.RawMessage `json:"additionalDirectories"`
		} `json:"sessionCapabilities"`
	}
	authMethod struct {
		ID          string            `json:"id"`
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Type        string            `json:"type"` // absent, "terminal" or "env_var"
		Args        []string          `json:"args"`
		Env         map[string]string `json:"env"`
		VarName     string            `json:"varName"`
		Vars        []struct {
			Name string `json:"name"`
		} `json:"vars"`
		Meta struct {
			Terminal *struct {
				Command string            `json:"command"`
				Args    []string          `json:"args"`
				Env     map[string]string `json:"env"`
			} `json:"terminal-auth"`
		} `json:"_meta"`
	}
)

type (
	server struct {
		Name    string      `json:"name"`
		Command string      `json:"command"`
		Args    []string    `json:"args"`
		Env     []agent.Var `json:"env"`
	}
	sessionParams struct {
		SessionID             string   `json:"sessionId,omitempty"`
		Cwd                   string   `json:"cwd"`
		MCPServers            []server `json:"mcpServers"`
		AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
		// Meta is Panes.Meta.
		Meta json.RawMessage `json:"_meta,omitempty"`
	}
	sessionResult struct {
		SessionID     string          `json:"sessionId"`
		Modes         offered         `json:"modes"`
		Models        offered         `json:"models"`
		ConfigOptions *[]configOption `json:"configOptions"`
	}
	// offered has an agent's modes or, under other names, its models.
	offered struct {
		Mode   string  `json:"currentModeId"`
		Model  string  `json:"currentModelId"`
		Modes  []offer `json:"availableModes"`
		Models []offer `json:"availableModels"`
	}
	offer struct {
		ID          string `json:"id"`
		ModelID     string `json:"modelId"`
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	configOption struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Category    string          `json:"category"`
		Type        string          `json:"type"` // select, boolean
		Current     json.RawMessage `json:"currentValue"`
		Options     []configChoice  `json:"options"`
	}
	configChoice struct {
		Value       string         `json:"value"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Group       string         `json:"group"`
		Options     []configChoice `json:"options"`
	}
)

type (
	contentBlock struct {
		Type     string    `json:"type"` // text, image, audio, resource_link, resource
		Text     string    `json:"text,omitempty"`
		Data     string    `json:"data,omitempty"` // base64
		MIMEType string    `json:"mimeType,omitempty"`
		URI      string    `json:"uri,omitempty"`
		Name     string    `json:"name,omitempty"`
		Title    string    `json:"title,omitempty"`
		Resource *resource `json:"resource,omitempty"`
	}
	resource struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType,omitempty"`
		Text     string `json:"text,omitempty"`
		Blob     string `json:"blob,omitempty"`
	}
	promptParams struct {
		SessionID string         `json:"sessionId"`
		Prompt    []contentBlock `json:"prompt"`
	}
	promptResult struct {
		StopReason string `json:"stopReason"`
		Usage      *struct {
			InputTokens      int64 `json:"inputTokens"`
			OutputTokens     int64 `json:"outputTokens"`
			CachedReadTokens int64 `json:"cachedReadTokens"`
		} `json:"usage"`
	}
	sessionOnly struct {
		SessionID string `json:"sessionId"`
	}
)

// update is a session/update, with the members of all kinds.
type update struct {
	Kind string `json:"sessionUpdate"`

	Content json.RawMessage `json:"content"` // a block of a chunk, or a list of a tool call

	toolCall

	Entries []struct { // plan
		Content  string `json:"content"`
		Priority string `json:"priority"`
		Status   string `json:"status"`
	} `json:"entries"`

	Commands []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Input       *struct {
			Hint string `json:"hint"`
		} `json:"input"`
	} `json:"availableCommands"`

	CurrentModeID string          `json:"currentModeId"`
	ModeID        string          `json:"modeId"` // the name in ACP's documentation
	ConfigOptions *[]configOption `json:"configOptions"`

	Used int64 `json:"used"` // usage_update
	Size int64 `json:"size"`
	Cost *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`

	Description *string `json:"description"` // notice
}

// toolCall is a tool call, or a change of one, in which nil members are unchanged.
type toolCall struct {
	ID        string           `json:"toolCallId"`
	Title     *string          `json:"title"`
	Name      *string          `json:"name"`
	Kind      *string          `json:"kind"`
	Status    *string          `json:"status"`
	Locations *json.RawMessage `json:"locations"`
	RawInput  json.RawMessage  `json:"rawInput"`
	RawOutput json.RawMessage  `json:"rawOutput"`
	Meta      *toolMeta        `json:"_meta"`
}

// toolMeta has the extensions of claude-code-acp and claude-agent-acp.
type toolMeta struct {
	Claude *struct {
		ToolName string `json:"toolName"`
		Parent   string `json:"parentToolUseId"`
	} `json:"claudeCode"`
	TerminalInfo *struct {
		ID string `json:"terminal_id"`
	} `json:"terminal_info"`
	TerminalOutput *struct {
		ID   string `json:"terminal_id"`
		Data string `json:"data"`
	} `json:"terminal_output"`
	TerminalExit *struct {
		ID     string `json:"terminal_id"`
		Code   *int   `json:"exit_code"`
		Signal string `json:"signal"`
	} `json:"terminal_exit"`
}

// toolContent is an item of a tool call's content.
type toolContent struct {
	Type       string        `json:"type"` // content, diff, terminal
	Content    *contentBlock `json:"content"`
	Path       string        `json:"path"`
	OldText    *string       `json:"oldText"`
	NewText    string        `json:"newText"`
	TerminalID string        `json:"terminalId"`
}

type (
	permissionParams struct {
		sessionOnly
		ToolCall json.RawMessage `json:"toolCall"`
		Options  []struct {
			ID   string `json:"optionId"`
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	outcome struct {
		Outcome  string `json:"outcome"` // cancelled, selected
		OptionID string `json:"optionId,omitempty"`
	}
	permissionResult struct {
		Outcome outcome `json:"outcome"`
	}
)

type (
	fileParams struct {
		sessionOnly
		Path    string  `json:"path"`
		Line    *int    `json:"line"`
		Limit   *int    `json:"limit"`
		Content *string `json:"content"`
	}
	createParams struct {
		sessionOnly
		Command         string      `json:"command"`
		Args            []string    `json:"args"`
		Env             []agent.Var `json:"env"`
		Cwd             string      `json:"cwd"`
		OutputByteLimit *int64      `json:"outputByteLimit"`
	}
	terminalParams struct {
		sessionOnly
		TerminalID string `json:"terminalId"`
	}
	// exitStatus has both members, even if they are null.
	exitStatus struct {
		ExitCode *int    `json:"exitCode"`
		Signal   *string `json:"signal"`
	}
	outputResult struct {
		Output     string      `json:"output"`
		Truncated  bool        `json:"truncated"`
		ExitStatus *exitStatus `json:"exitStatus,omitempty"`
	}
)

func (s sessionOnly) session() string { return s.SessionID }
