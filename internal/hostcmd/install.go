package hostcmd

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
	"tandemux/internal/plaintext"
)

// The scripts run in sh over there, and have no single quotes. The first says what the
// machine is, and which tandemux is found there; the second takes the program on stdin
// and puts it in place once it has said its version.
const (
	probeScript = `uname -s; uname -m; PATH="$PATH:$HOME/.local/bin:$HOME/bin:$HOME/go/bin:/usr/local/bin"; ` +
		`c=$(command -v tandemux) && echo "$c" && "$c" --version; exit 0`
	placeScript = `set -e; umask 022; d="$HOME/.local/bin"; mkdir -p "$d"; t="$d/.tandemux.$$"; trap "rm -rf \"$t\"" EXIT; mkdir "$t"; p="$t/tandemux"; ` +
		`cat > "$p"; if [ $(wc -c < "$p") -ne %d ]; then echo "the program did not come whole" >&2; exit 1; fi; chmod 755 "$p"; "$p" --version; mv -f "$p" "$d/tandemux"`
)

func newInstall() *cobra.Command {
	var in struct {
		Program string `flag:"program" value:"FILE" doc:"The program to copy, for a machine of another kind (default: this one)"`
		Yes     bool   `flag:"yes,y" doc:"Do not ask"`
	}
	return cli.Command("install HOST", `Copy this program to a host's machine, by ssh
It says what is copied and where to, and asks. The program becomes ~/.local/bin/tandemux
there, in one step, once it runs on that machine. A host that runs there goes on as it
is; tandemux upgrade, there, puts the new program in its place.

  tandemux hosts install build`, &in, func(cmd *cobra.Command, args []string) error {
		list, err := hosts.Read(dir())
		if err != nil {
			return err
		}
		h, is := hosts.Find(list, args[0])
		if !is {
			return missing(args[0])
		}
		p, err := endpoint.Named(local.FindDirs(), h)
		if err != nil {
			return err
		}
		if p.SSH == nil {
			return cli.Usagef("install goes by ssh, and %s is at %s", h.Name, cli.Short(h.URL))
		}
		program := in.Program
		if program == "" {
			if program, err = os.Executable(); err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
		}
		ours, err := platformOf(program)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(program)
		if err != nil {
			return fmt.Errorf("read the program: %w", err)
		}
		said, err := p.SSH.Run(cmd.Context(), probeScript, nil)
		if err != nil {
			return err
		}
		far, there, err := readProbe(said)
		if err != nil {
			return fmt.Errorf("ask %s what machine it is: %w", h.Name, err)
		}
		if far != ours {
			return fmt.Errorf("%s is %s, and %s is for %s: give the program for it with --program", h.Name, far, program, ours)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s (%s, %.1f MB) is copied to %s, %s, as ~/.local/bin/tandemux; there is %s\n",
			program, ours, float64(len(text))/1e6, h.Name, cli.Short(h.URL), there)
		if !in.Yes {
			if !cli.OnTerminal(cmd) {
				return cli.Usagef("nobody is here to ask: agree with --yes")
			}
			if !cli.Agrees(cmd, "copy it?") {
				return cli.StatusError{Code: cli.ExitFailed}
			}
		}
		if said, err = p.SSH.Run(cmd.Context(), fmt.Sprintf(placeScript, len(text)), bytes.NewReader(text)); err != nil {
			return fmt.Errorf("install on %s: %w", h.Name, err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", h.Name, cli.Short(lastLine(said)))
		return nil
	})
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// systems and processors are how uname calls what Go calls otherwise.
var (
	systems    = map[string]string{"Linux": "linux", "Darwin": "darwin"}
	processors = map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
)

// readProbe reads what the probe says: the kind of machine, and in words which tandemux is
// there. What a login prints may stand before it.
func readProbe(said string) (platform, there string, err error) {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i := 0; i+1 < len(lines); i++ {
		system, processor := systems[strings.TrimSpace(lines[i])], processors[strings.TrimSpace(lines[i+1])]
		if system == "" {
			continue
		}
		if processor == "" {
			return "", "", fmt.Errorf("its processor is %q, and tandemux runs on amd64 and arm64", cli.Short(lines[i+1]))
		}
		there = "none now"
		if rest := lines[i+2:]; len(rest) > 0 {
			there = strings.Join(strings.Fields(plaintext.Clean(strings.Join(rest[:min(len(rest), 2)], " "), "")), " ") + " now"
		}
		return system + "/" + processor, there, nil
	}
	return "", "", fmt.Errorf("it answers %q, which is no system that tandemux runs on", cli.Short(said))
}

// platformOf says what kind of machine a program is for.
func platformOf(path string) (string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if name := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]; name != "" {
			return "linux/" + name, nil
		}
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		if name := map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]; name != "" {
			return "darwin/" + name, nil
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return "", fmt.Errorf("%s is no program for linux or darwin on amd64 or arm64", path)
}
