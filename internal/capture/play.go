package capture

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/asciicast"
	"tandemux/internal/cli"
	"tandemux/themes"
	"tandemux/ui/player"
)

// maxRecording bounds what is played, in bytes of what it holds.
const maxRecording = 512 << 20

func PlayCommand(theme func() themes.Theme) *cobra.Command {
	in := struct {
		player.Options
		Text  bool `flag:"text" doc:"Print a screen of it as text"`
		SVG   bool `flag:"svg" doc:"Print a screen of it as an SVG image"`
		Light bool `flag:"light" doc:"With --svg: in tandemux's colours on a light ground, not in those of the recording"`
		Dark  bool `flag:"dark" doc:"With --svg: the same on a dark ground"`
	}{Options: player.Options{Speed: 1}}
	cmd := cli.Command("play FILE", `Play a recording of a terminal
The file is in asciinema's format (asciicast v2 or v3); - is standard input. Whatever
it holds is shown and no more: it can't change your terminal's title or clipboard, nor
make it type.

Keys: space pauses, left and right go 5 seconds back and on, [ and ] to the marker
before and behind, q ends it.

With --text or --svg it prints the screen as it is at --start, or else at the end.

  tandemux play demo.cast --speed 2 --idle-limit 1s
  tandemux play demo.cast --start 12s --svg > demo.svg`, &in, func(cmd *cobra.Command, args []string) error {
		if in.Speed <= 0 {
			return cli.Usagef("--speed %g is not above 0", in.Speed)
		}
		rec, err := readRecording(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		if in.Text || in.SVG {
			return printFrame(cmd, rec, in.Options, Picture{SVG: in.SVG, Light: in.Light, Dark: in.Dark})
		}
		keys, err := keyboardFor(args[0])
		if err != nil {
			return err
		}
		return player.Run(cmd.Context(), rec, in.Options, keys, os.Stdout, os.Environ(), theme())
	})
	cmd.MarkFlagsMutuallyExclusive("text", "svg")
	cmd.MarkFlagsMutuallyExclusive("light", "dark")
	return cmd
}

// keyboardFor gives the terminal that keys come from.
func keyboardFor(path string) (*os.File, error) {
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return nil, cli.Usagef("playing needs a terminal; --text and --svg print a screen of the recording")
	}
	if path != "-" {
		return os.Stdin, nil
	}
	in, err := os.Open("/dev/tty")
	if err != nil {
		return nil, fmt.Errorf("open the terminal for keys: %w", err)
	}
	return in, nil
}

func readRecording(stdin io.Reader, path string) (rec player.Recording, err error) {
	from := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return rec, fmt.Errorf("play: %w", err)
		}
		defer f.Close()
		from = f
	}
	r, err := asciicast.NewReader(from)
	if err != nil {
		return rec, fmt.Errorf("play %s: %w", path, err)
	}
	rec.Header = r.Header()
	for size := 0; ; {
		e, err := r.Next()
		if err == io.EOF {
			return rec, nil
		}
		if err != nil {
			if len(rec.Events) > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
				return rec, nil
			}
			return rec, fmt.Errorf("play %s: %w", path, err)
		}
		if e.Kind == asciicast.Input {
			continue
		}
		if size += len(e.Data) + 64; size > maxRecording {
			return rec, fmt.Errorf("play %s: it is longer than %d MiB", path, maxRecording>>20)
		}
		rec.Events = append(rec.Events, e)
	}
}

// printFrame prints the screen at a place of a recording.
func printFrame(cmd *cobra.Command, rec player.Recording, o player.Options, s Picture) error {
	if !cmd.Flags().Changed("start") {
		o.Start = asciicast.MaxTime
	}
	em, err := engine.New("", emulator.Options{Cols: rec.Header.Cols, Rows: rec.Header.Rows})
	if err != nil {
		return err
	}
	player.New(rec, o).Until(func(e asciicast.Event) {
		switch e.Kind {
		case asciicast.Output:
			em.Write([]byte(e.Data))
			em.Events()
		case asciicast.Resize:
			em.Resize(e.Cols, e.Rows)
		}
	})
	s.Title = rec.Header.Title
	if c := rec.Header.Theme; c != nil {
		s.SeenIn = &ahp.ReadColors{FG: c.FG, BG: c.BG, Palette: c.Palette}
	}
	return Print(cmd.OutOrStdout(), em, s)
}
