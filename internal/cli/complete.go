package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Complete has root and all commands below it complete their arguments and the values of
// their flags by the words that stand for them: what FILE or DIR is begins with is a
// file's, one of a|b is a or b, and for others by gives what there is, each perhaps with a
// tab and a description. What a command completes itself stays.
func Complete(root *cobra.Command, by map[string]func(cmd *cobra.Command) []string) {
	values := func(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
		word = strings.Trim(word, "[].")
		if word == "FILE" || word == "DIR" || word == "PATH" {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if choice := strings.Split(word, "|"); len(choice) > 1 {
			return choice, cobra.ShellCompDirectiveNoFileComp
		}
		if there := by[word]; there != nil {
			return there(cmd), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if root.ValidArgsFunction == nil && !IsGroup(root) {
		words, free := placeholders(root.Use)
		root.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch last := len(words) - 1; {
			case free:
				return nil, cobra.ShellCompDirectiveDefault
			case len(args) <= last:
				return values(cmd, words[len(args)])
			case last >= 0 && strings.Contains(words[last], "..."):
				return values(cmd, words[last])
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	flags := root.Flags() // LocalFlags would make a set of its own for each command
	if !root.HasParent() {
		flags = root.LocalFlags()
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if _, done := root.GetFlagCompletionFunc(f.Name); done || f.Value.Type() == "bool" {
			return
		}
		word, _ := pflag.UnquoteUsage(f)
		root.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag is there
			return values(cmd, word)
		})
	})
	for _, below := range root.Commands() {
		Complete(below, by)
	}
}
