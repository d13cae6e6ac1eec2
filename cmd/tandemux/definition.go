package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandemux/host/task/registry"
	"tandemux/internal/apiclient"
)

// definition is a definition file that was found, with its directory.
type definition struct {
	registry.Definition
	path string
}

// findDefinition reads the definition file at a path, or the one in the current
// directory for "".
func findDefinition(path string) (definition, error) {
	asked := path
	if path == "" {
		path = registry.DefinitionFile
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, registry.DefinitionFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && asked == "" {
		return definition{}, fmt.Errorf("there is no %s here: `tandemux init` makes one, and --config names another: %w", registry.DefinitionFile, err)
	}
	if err != nil {
		return definition{}, fmt.Errorf("read the definition: %w", err)
	}
	d, err := registry.ParseDefinition(text)
	if err != nil {
		return definition{}, fmt.Errorf("%s: %w", filepath.Dir(path), err)
	}
	return definition{d, path}, nil
}

// agentNamed is the agent that was named, or the one of the definition in the
// current directory (U106).
func agentNamed(name, config string) (string, error) {
	if name != "" {
		return name, nil
	}
	d, err := findDefinition(config)
	if errors.Is(err, fs.ErrNotExist) && config == "" {
		return "", usagef("which agent? Name it, or go to the directory of its %s", registry.DefinitionFile)
	}
	return d.Name, err
}

// gitTime is how long git may take to say which branch it is on.
const gitTime = 5 * time.Second

// branchHere is the branch that was named, the current one of git's, or main (U29).
func branchHere(ctx context.Context, named string) string {
	if named != "" {
		return named
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "symbolic-ref", "--quiet", "--short", "HEAD").Output()
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return registry.MainBranch
}

// agentPath is an agent's place in the interface.
func agentPath(agent string, more ...string) string {
	path := "/agents/" + apiclient.Segment(agent)
	for _, m := range more {
		path += "/" + apiclient.Segment(m)
	}
	return path
}
