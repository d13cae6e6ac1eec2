package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// help prints the help of a command, as wide as the terminal that it goes to, but no
// wider than is read with ease. It asks the terminal nothing.
func help(w io.Writer, c *cobra.Command) {
	w = Raw(w)
	width, head := 80, func(s string) string { return s }
	if f, is := w.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
			width = min(cols, 100)
		}
		if name := os.Getenv("TERM"); os.Getenv("NO_COLOR") == "" && name != "" && name != "dumb" {
			head = func(s string) string { return "\x1b[1m" + s + "\x1b[m" }
		}
	}
	text, examples := parts(c.Long)
	if !c.HasParent() {
		fmt.Fprintln(w, text)
	} else if fmt.Fprintln(w, c.Short+"."); text != "" {
		fmt.Fprint(w, "\n", text, "\n")
	}
	section := func(name, text string) {
		if text != "" {
			fmt.Fprint(w, "\n", head(name+":"), "\n", strings.TrimRight(text, "\n"), "\n")
		}
	}
	section("Usage", "  "+useLine(c))
	for _, g := range groups(c) {
		var rows strings.Builder
		wide := 0
		for _, below := range g.commands {
			wide = max(wide, len(below.Name()))
		}
		for _, below := range g.commands {
			fmt.Fprintf(&rows, "  %-*s  %s\n", wide, below.Name(), below.Short)
		}
		section(g.title, rows.String())
	}
	section("Flags", localFlags(c).FlagUsagesWrapped(width))
	section("Examples", examples)
	if c.HasInheritedFlags() {
		fmt.Fprintf(w, "\nFor --host and other flags of all commands see `%s --help`.\n", c.Root().Name())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n`%s COMMAND --help` says more about a command.\n", c.CommandPath())
	}
}

// localFlags are a command's own flags.
func localFlags(c *cobra.Command) *pflag.FlagSet {
	for name, usage := range map[string]string{"help": "Print this", "version": "Print the version"} {
		if f := c.Flags().Lookup(name); f != nil && strings.HasPrefix(f.Usage, name+" for ") { // cobra's own
			f.Usage = usage
		}
	}
	return c.LocalFlags()
}

// useLine is how a command is called.
func useLine(c *cobra.Command) string {
	use := strings.TrimSuffix(c.UseLine(), " [flags]")
	if c.HasAvailableSubCommands() {
		use += " [COMMAND]"
	}
	flags := 0
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			flags++
		}
	})
	if flags == 0 {
		return use
	}
	return strings.Replace(use, c.CommandPath(), c.CommandPath()+" [flags]", 1)
}

// parts are what a command's long text says, and the examples at its end: its lines that
// are indented.
func parts(long string) (text, examples string) {
	lines := strings.Split(strings.Trim(long, "\n"), "\n")
	i := len(lines)
	for i > 0 && (lines[i-1] == "" || strings.HasPrefix(lines[i-1], "  ")) {
		i--
	}
	return strings.Join(lines[:i], "\n"), strings.Trim(strings.Join(lines[i:], "\n"), "\n")
}

// group is a heading with commands.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups are the commands below c, by their groups, the rest at the end.
func groups(c *cobra.Command) []group {
	var all []group
	for _, g := range append(c.Groups(), &cobra.Group{Title: "Commands"}) {
		at := group{title: g.Title}
		if g.ID == "" && len(all) > 0 {
			at.title = "More"
		}
		for _, below := range c.Commands() {
			if below.GroupID == g.ID && (below.IsAvailableCommand() || below.Name() == "help") {
				at.commands = append(at.commands, below)
			}
		}
		if len(at.commands) > 0 {
			all = append(all, at)
		}
	}
	return all
}

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
