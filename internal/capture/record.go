package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/asciicast"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

func RecordCommand() *cobra.Command {
	var in struct {
		Output    string        `flag:"output,o" doc:"The file, which must not be there yet; - is standard output (default tandemux-ID-DATE.cast)"`
		V3        bool          `flag:"v3" doc:"Asciicast v3 (the default)"`
		V2        bool          `flag:"v2" doc:"Asciicast v2, for players before asciinema 3; it has no exit code"`
		Title     string        `flag:"title" doc:"The recording's title (default the terminal's)"`
		For       time.Duration `flag:"for" doc:"Stop after this long"`
		IdleLimit time.Duration `flag:"idle-limit" doc:"Have players cut longer pauses to this"`
	}
	cmd := cli.Command("record ID", `Record what a terminal shows, for tandemux play and asciinema
It is recorded from now on, in asciinema's format (asciicast v3, or v2 for older
players), until its program ends, --for is over or ctrl+c is pressed. The recording
begins with the screen as it is, and has the terminal's output, its sizes, a marker for
each command that its shell runs, and the exit code.

What is typed is not in it: the host shows typed keys to nobody but the client that
typed them. What programs echo is output.

  tandemux record build -o build.cast
  tandemux record build --v2 -o - | gzip > build.cast.gz`, &in, func(cmd *cobra.Command, args []string) error {
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		version := asciicast.V3
		if in.V2 {
			version = asciicast.V2
		}
		return recordTerminal(cmd, p, args[0], recordTo{
			path: in.Output, most: in.For,
			header: asciicast.Header{Version: version, Title: in.Title, IdleLimit: in.IdleLimit},
		})
	})
	cmd.MarkFlagsMutuallyExclusive("v2", "v3")
	return cmd
}

// recordTo says what is recorded how.
type recordTo struct {
	path   string
	most   time.Duration
	header asciicast.Header // without what is known of the terminal
}

// recordTerminal records until somebody or something ends it.
func recordTerminal(cmd *cobra.Command, p endpoint.Endpoint, id string, to recordTo) error {
	var t ahp.TerminalInfo
	if err := p.With(cmd.Context(), endpoint.Options{}, func(_ context.Context, s *endpoint.Conn) (err error) {
		t, err = s.Terminal(id)
		return err
	}); err != nil {
		return err
	}
	var file io.Writer = cli.Bytes(cmd.OutOrStdout())
	name := "standard output"
	if to.path != "-" {
		to.path = cmp.Or(to.path, recordingName(endpoint.LastPart(t.Resource), time.Now()))
		full, f, err := CreateNew(to.path)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		defer f.Close()
		file, name = f, full
	}
	r, err := Start(cmd.Context(), p, t.Resource, file, to.header)
	if err != nil {
		if to.path != "-" {
			os.Remove(name)
		}
		return err
	}
	if to.path != "-" {
		fmt.Fprintf(cmd.ErrOrStderr(), "recording %s to %s; ctrl+c ends it\n", endpoint.LastPart(t.Resource), name)
	}
	var over <-chan time.Time
	if to.most > 0 {
		over = time.After(to.most)
	}
	select {
	case <-r.done:
	case <-over:
	case <-cmd.Context().Done():
	}
	took, err := r.Stop()
	if err != nil {
		return fmt.Errorf("record %s: %w", endpoint.LastPart(t.Resource), err)
	}
	if to.path != "-" {
		fmt.Fprintf(cmd.ErrOrStderr(), "recorded %v\n", took.Round(100*time.Millisecond))
	}
	return nil
}

// recordingName is the file of a recording that was given no name.
func recordingName(id string, now time.Time) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, id)
	return "tandemux-" + id + "-" + now.Format("20060102-150405") + ".cast"
}

// CreateNew makes a file that only this user can read; ~ is the home directory.
func CreateNew(path string) (full string, f *os.File, err error) {
	if full, err = TypedPath(path); err != nil {
		return "", nil, err
	}
	f, err = os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return "", nil, fmt.Errorf("%s is there already; choose another name", full)
	}
	return full, f, err
}

// TypedPath is a path that a person has typed, as an absolute one; ~ is the home
// directory.
func TypedPath(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	return filepath.Abs(path)
}
