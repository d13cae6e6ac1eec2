package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand prints the manual page of the program, made of the helps of all commands;
// end is its last sections, as roff.
func manCommand(end string) *cobra.Command {
	return Command("man", "Print the manual page\nRead it with man -l, or install it.\n\n  tandemux man > ~/.local/share/man/man1/tandemux.1", nil,
		func(cmd *cobra.Command, _ []string) error {
			root, w := cmd.Root(), cmd.OutOrStdout()
			fmt.Fprintf(w, ".TH %s 1 \"\" \"%[2]s %[3]s\"\n.SH NAME\n%[2]s \\- %[4]s\n.SH SYNOPSIS\n%[5]s\n.SH DESCRIPTION\n", strings.ToUpper(root.Name()), root.Name(), roff(root.Version), roff(root.Short), roff(useLine(root)))
			text, _ := parts(root.Long)
			paragraphs(w, text)
			fmt.Fprintln(w, ".SH OPTIONS")
			manFlags(w, root.LocalFlags())
			fmt.Fprintln(w, ".SH COMMANDS")
			manCommands(w, root)
			_, err := io.WriteString(w, end)
			return err
		})
}

func manCommands(w io.Writer, c *cobra.Command) {
	for _, g := range groups(c) {
		for _, below := range g.commands {
			if below.Name() == "help" {
				continue
			}
			fmt.Fprintf(w, ".SS %s\n%s.\n", roff(useLine(below)), roff(below.Short))
			text, examples := parts(below.Long)
			if text != "" {
				fmt.Fprintln(w, ".PP")
				paragraphs(w, text)
			}
			manFlags(w, below.LocalNonPersistentFlags())
			if examples != "" {
				fmt.Fprintf(w, ".PP\n.nf\n%s\n.fi\n", roff(examples))
			}
			manCommands(w, below)
		}
	}
}

func manFlags(w io.Writer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		if name != "" {
			name = ` \fI` + roff(name) + `\fR`
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fR%s\n%s\n", roff(short+"--"+f.Name), name, roff(usage))
	})
}

// paragraphs writes text whose paragraphs stand between empty lines.
func paragraphs(w io.Writer, text string) {
	fmt.Fprintln(w, strings.ReplaceAll(roff(text), "\n\n", "\n.PP\n"))
}

// roff is text that roff takes for nothing else.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
