package main

import (
	"fmt"

	"tandemux/host/agent/catalog"
	"tandemux/host/task/registry"
	"tandemux/internal/local"
)

// configuredAgent is the definition of an agent of the configuration.
func configuredAgent(name string) (registry.Definition, error) {
	s, err := loadSettings(local.FindDirs())
	if err != nil {
		return registry.Definition{}, err
	}
	r, ok := catalog.Named(s.catalog.Rows(), name)
	if !ok || len(r.Command) == 0 {
		return registry.Definition{}, fmt.Errorf("the configuration has no agent %q; `tandemux agents` lists them", name)
	}
	return definitionOf(r), nil
}
