package host

import (
	"path/filepath"

	"tandemux/ahp"
	"tandemux/host/shell"
)

// ShellDir is the directory below Config.Runtime that holds the scripts of the
// shell integration.
const ShellDir = "shell"

// integrates reports whether a new shell is to mark its commands.
func (s Start) integrates(m ahp.CreateMeta) bool {
	if m.ShellIntegration != nil {
		return *m.ShellIntegration
	}
	return !s.NoShellIntegration
}

// inject changes how a shell is started so that it marks its commands, and reports
// whether it could: what is no such shell comes up as it is.
func (h *Host) inject(pl *plan) bool {
	out, nonce, ok, err := shell.Inject(shell.Launch{Argv: pl.spec.Argv, Env: pl.spec.Env}, filepath.Join(h.cfg.Runtime, ShellDir))
	if err != nil {
		h.log.Warn("integrate the shell", "shell", pl.spec.Argv[0], "err", err)
	}
	if ok {
		pl.spec.Argv, pl.spec.Env, pl.nonce = out.Argv, out.Env, nonce
		pl.promptEnds = filepath.Base(out.Argv[0]) == "bash"
	}
	return ok
}
