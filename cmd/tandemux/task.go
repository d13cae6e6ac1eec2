package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tandemux/host/agent/catalog"
	"tandemux/host/task/registry"
	"tandemux/internal/apiclient"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/taskcmd"
)

// taskHost is the host as the commands about tasks see it.
func taskHost() taskcmd.Host {
	return taskcmd.Host{
		Open: func(cmd *cobra.Command) (*apiclient.Client, func(error) error, error) {
			p, err := endpoint.Of(cmd)
			if err != nil {
				return nil, nil, err
			}
			c, err := p.API(cmd.Context(), false)
			return c, p.ExplainAPI, err
		},
		Elsewhere: func(cmd *cobra.Command) (bool, error) {
			p, err := endpoint.Of(cmd)
			return p.Elsewhere(), err
		},
		Configured: func(name string) (registry.Definition, error) {
			s, err := loadSettings(local.FindDirs())
			if err != nil {
				return registry.Definition{}, err
			}
			r, ok := catalog.Named(s.catalog.Rows(), name)
			if !ok || len(r.Command) == 0 {
				return registry.Definition{}, fmt.Errorf("the configuration has no agent %q; `tandemux agents` lists them", name)
			}
			return definitionOf(r), nil
		},
	}
}
