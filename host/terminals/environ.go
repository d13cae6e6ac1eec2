package terminals

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/listen"
	"tandemux/host/params"
	"tandemux/host/shell"
	"tandemux/internal/tmux/pane"
)

// The variables, by name and by prefix, that describe the terminal in which the host was
// started: its features, size or sockets. Programs in our terminals must not see them.
var (
	foreign = []string{
		"STY", "WINDOW", "LINES", "COLUMNS", "TERMCAP", "OLDPWD", "VTE_VERSION", "WINDOWID", "COLORFGBG",
		"TERM_SESSION_ID", "LC_TERMINAL", "LC_TERMINAL_VERSION", "WT_SESSION", "WT_PROFILE_ID", "NVIM", "VIM_TERMINAL",
	}
	foreignPrefixes = []string{
		"TMUX", "TERM_PROGRAM", "TANDEMUX", "ZELLIJ", "KITTY_", "WEZTERM_", "ALACRITTY_", "GHOSTTY_", "KONSOLE_",
		"ITERM_", "VSCODE_SHELL_",
	}
)

func isForeign(name string) bool {
	return slices.Contains(foreign, name) ||
		slices.ContainsFunc(foreignPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// environ is a child's environment: the host's own, overridden by the client's, overridden by
// what describes this terminal.
func (ts *Terminals) environ(k agent.Confinement, client map[string]string, uri ahp.URI, dir string, tmux bool) []string {
	env := map[string]string{}
	base := os.Environ()
	if k != nil {
		base = nil // the sandbox has its own
	}
	for _, kv := range base {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			env[name] = value
		}
	}
	maps.Copy(env, client)
	for name := range env {
		if _, sent := client[name]; isForeign(name) && !(sent && strings.HasPrefix(name, "TANDEMUX_PANE")) {
			delete(env, name)
		}
	}
	env["TANDEMUX"] = filepath.Join(ts.Runtime, listen.SocketName)
	env["TANDEMUX_TERMINAL"] = uri
	env["TERM"] = "xterm-256color"
	env["COLORTERM"] = "truecolor"
	env["TERM_PROGRAM"] = "tandemux"
	env["TERM_PROGRAM_VERSION"] = ts.Version
	env["PWD"] = dir
	if tmux && k == nil {
		maps.Copy(env, pane.Environ(ts.Runtime, env["TANDEMUX"], uri, env["PATH"]))
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// checkEnv bounds what a client sends as tandemux/env.
func checkEnv(env map[string]string) error {
	if len(env) > maxEnv {
		return ahp.InvalidParams("create terminal: tandemux/env: more than %d variables", maxEnv)
	}
	size := 0
	for name, value := range env {
		size += len(name) + len(value)
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return ahp.InvalidParams("create terminal: tandemux/env: %q can't be the name of a variable, or its value has a zero byte in it", params.Clip(name))
		}
	}
	if size > maxEnvBytes {
		return ahp.InvalidParams("create terminal: tandemux/env: more than %d bytes", maxEnvBytes)
	}
	return nil
}

// ShellDir is the directory below Config.Runtime that holds the scripts of the
// shell integration.
const ShellDir = "shell"

// integrates reports whether a new shell is to be started with shell integration.
func (s Start) integrates(m ahp.CreateMeta) bool {
	if m.ShellIntegration != nil {
		return *m.ShellIntegration
	}
	return !s.NoShellIntegration
}

// inject changes the start of a shell so that it marks its commands, and reports whether it
// could. A shell that it does not know starts unchanged.
func (ts *Terminals) inject(pl *plan) bool {
	out, nonce, ok, err := shell.Inject(shell.Launch{Argv: pl.spec.Argv, Env: pl.spec.Env}, filepath.Join(ts.Runtime, ShellDir))
	if err != nil {
		ts.Log.Warn("integrate the shell", "shell", pl.spec.Argv[0], "err", err)
	}
	if ok {
		pl.spec.Argv, pl.spec.Env, pl.nonce = out.Argv, out.Env, nonce
		pl.promptEnds = filepath.Base(out.Argv[0]) == "bash"
	}
	return ok
}
