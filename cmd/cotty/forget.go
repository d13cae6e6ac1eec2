package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"cotty/internal/keepsake"
)

func newForgetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "forget",
		Short: "Remove what is kept on disk for the next start of the machine",
		Long: `Remove what is kept on disk for the next start of the machine: which layouts
there are, and of their terminals the directories, titles and commands. What
terminals show is never kept there. A host that runs writes it anew when
something changes.`,
		Args: cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			d := findDirs()
			m, err := keepsake.Read(d.state)
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing is kept")
				return nil
			}
			if err := keepsake.Forget(d.state); err != nil {
				return err
			}
			if err != nil { // it was damaged
				fmt.Fprintln(cmd.OutOrStdout(), "forgotten")
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "forgot %s with %s, kept at %s\n", count(len(m.Layouts), "layout"), count(len(m.Terminals), "terminal"), m.Saved.Local().Format("2006-01-02 15:04"))
			return nil
		}),
	}
}
