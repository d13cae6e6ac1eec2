package complete

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/host/task/store"
	"tandemux/host/workspace/folders"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
	"tandemux/internal/taskcmd"
)

// patience is how long somebody who pressed tab waits.
const patience = time.Second

// Words are the completions of the words that stand for arguments and values of flags.
// configured are the agents of the configuration, which needs no host.
func Words(configured func() []string) map[string]func(cmd *cobra.Command) []string {
	return map[string]func(cmd *cobra.Command) []string{
		"ID": terminals, "TERMINAL": terminals,
		"LAYOUT":  layouts,
		"SESSION": sessions,
		"INTERFACE": func(cmd *cobra.Command) []string {
			return asked(cmd, func(ctx context.Context, s *endpoint.Conn) (all []string) {
				got, _ := s.Interfaces(ctx) //nolint:errcheck // there is nowhere to report it to
				for _, one := range got {
					all = append(all, one.Name()+"\tshows "+cli.Short(one.On()))
				}
				return all
			})
		},
		"TOKEN": tokens,

		"TASK": tasks("listTasks", func(t store.Task) string { return t.Name + "\t" + string(t.Status) }),
		"AGENT": func(cmd *cobra.Command) []string {
			all := slices.Concat(configured(), agents(cmd), deployed(cmd))
			slices.Sort(all)
			return slices.CompactFunc(all, func(a, b string) bool { return word(a) == word(b) })
		},
		"HOST": func(*cobra.Command) (names []string) {
			list, _ := hosts.Read(local.FindDirs().Config) //nolint:errcheck // there is nowhere to report it to
			for _, h := range list {
				names = append(names, h.Name+"\t"+cli.Short(h.URL))
			}
			return names
		},
		"URL":        func(*cobra.Command) []string { return endpoint.Known() },
		"PROJECT":    tasks("listProjects", func(p store.Project) string { return p.Name + "\t" + cli.Short(p.Description) }),
		"FILESYSTEM": tasks("listFilesystems", func(f store.Filesystem) string { return f.Name }),
		"WORKSPACE": func(cmd *cobra.Command) []string {
			return slices.Concat(tasks("listTasks", func(t store.Task) string { return t.Name })(cmd), tasks("listFilesystems", func(f store.Filesystem) string { return f.Name })(cmd))
		},
		"TYPE": func(cmd *cobra.Command) (all []string) {
			if args := cmd.Flags().Args(); len(args) > 0 {
				onTasks(cmd, func(c *taskcmd.Client) {
					names, _ := taskcmd.SystemFolders(c, args[0]) //nolint:errcheck // there is nowhere to report it to
					for _, name := range names {
						all = append(all, folders.Type(name)+"\t~/"+name)
					}
				})
			}
			return all
		},
		"KEY": tasks("listKeys", func(k store.APIKey) string {
			if !k.Revoked.IsZero() {
				return ""
			}
			return k.Name
		}),
	}
}

// word is a completion without its description.
func word(completion string) string {
	w, _, _ := strings.Cut(completion, "\t")
	return w
}

// asked asks the host that runs, if one does.
func asked(cmd *cobra.Command, ask func(ctx context.Context, s *endpoint.Conn) []string) (all []string) {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	cmd.SetContext(ctx)
	endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error { //nolint:errcheck // there is nowhere to report it to
		all = ask(ctx, s)
		return nil
	})
	return all
}

// terminals are those of all hosts that a list of them would have.
func terminals(cmd *cobra.Command) (all []string) {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	cmd.SetContext(ctx)
	got, _, _ := endpoint.EachConn(cmd, func(_ context.Context, s *endpoint.Conn) ([]ahp.TerminalInfo, error) { //nolint:errcheck // there is nowhere to report it to
		return s.Terminals(), nil
	})
	for _, one := range got {
		for _, t := range one.Got {
			id := endpoint.LastPart(t.Resource)
			all = append(all, id+"\t"+cli.Short(t.Title))
			if name := endpoint.NameOf(t); name != "" {
				if host := hosted.Host(t.Resource); host != "" {
					name = host + ":" + name
				}
				all = append(all, name+"\t"+id+", "+cli.Short(endpoint.TitleOf(t)))
			}
		}
	}
	return all
}

func layouts(cmd *cobra.Command) []string {
	return asked(cmd, func(_ context.Context, s *endpoint.Conn) (names []string) {
		for _, l := range s.Layouts() {
			names = append(names, endpoint.LastPart(l))
		}
		return names
	})
}

// agents are those of the host.
func agents(cmd *cobra.Command) []string {
	return asked(cmd, func(_ context.Context, s *endpoint.Conn) (all []string) {
		root, _ := s.Mirror.Root()
		for _, a := range root.Agents {
			all = append(all, a.Provider+"\t"+cli.Short(a.DisplayName))
		}
		return all
	})
}

var deployed = tasks("listAgents", func(a store.Agent) string { return a.Name + "\t" + cli.Short(a.Description) })

func sessions(cmd *cobra.Command) []string {
	return asked(cmd, func(ctx context.Context, s *endpoint.Conn) (all []string) {
		got, _ := s.Sessions(ctx) //nolint:errcheck // there is nowhere to report it to
		for _, one := range got {
			all = append(all, endpoint.LastPart(one.Resource)+"\t"+cli.Short(one.Title))
		}
		return all
	})
}

func tokens(cmd *cobra.Command) []string {
	return asked(cmd, func(ctx context.Context, s *endpoint.Conn) (all []string) {
		var got ahp.TokenListResult
		s.Ask(ctx, ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &got) //nolint:errcheck // there is nowhere to report it to
		for _, t := range got.Items {
			all = append(all, t.ID+"\t"+cli.Short(t.Name))
		}
		return all
	})
}

// onTasks asks the tasks' interface.
func onTasks(cmd *cobra.Command, ask func(c *taskcmd.Client)) {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	if at, err := endpoint.Of(cmd); err == nil {
		c := taskcmd.NewClient(ctx, at)
		defer c.Close()
		ask(c)
	}
}

// tasks lists what an operation of the tasks' interface gives.
func tasks[T any](op string, row func(T) string) func(cmd *cobra.Command) []string {
	return func(cmd *cobra.Command) (all []string) {
		onTasks(cmd, func(c *taskcmd.Client) {
			got, _ := taskcmd.List[T](c, 200, op, nil) //nolint:errcheck // there is nowhere to report it to
			for _, one := range got {
				if word := row(one); word != "" {
					all = append(all, word)
				}
			}
		})
		return all
	}
}
