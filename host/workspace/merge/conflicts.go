package merge

import (
	"fmt"
	"net/http"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Conflicts is the error of a merge that was not done: nothing was changed.
type Conflicts struct {
	Into  string   `json:"into"`
	Paths []string `json:"paths"` // at most 1000
	Dirty bool     `json:"dirty"` // the user's uncommitted changes are in the way

	Task   string `json:"-"` // its name
	Update bool   `json:"-"` // it was to be brought up to date with Into
	Open   bool   `json:"-"` // an update has left them
	Shared bool   `json:"-"` // Into is a filesystem; what else changed is in it
}

func (c *Conflicts) Error() string {
	most := 5
	if c.Update {
		most = 50
	}
	shown := c.Paths[:min(len(c.Paths), most)]
	names := make([]string, len(shown))
	for i, p := range shown {
		names[i] = fmt.Sprintf("%q", filetree.Clip(p))
	}
	list := strings.Join(names, ", ")
	if n := len(c.Paths) - len(shown); n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	switch {
	case c.Dirty:
		return fmt.Sprintf("merging into %s would overwrite uncommitted changes in %s: commit or stash them, and merge again; nothing was changed", c.Into, list)
	case c.Open:
		return fmt.Sprintf("conflicts with %s are not resolved in %s: have the task resolve and commit them, or give them up with `tandemux ws update %s --abort`; nothing was changed", c.Into, list, c.Task)
	case c.Shared:
		return fmt.Sprintf("both the task and %s changed %s, which stay as they are on both sides: `tandemux ws resolve %s --keep task`, or filesystem, says whose counts", c.Into, list, c.Task)
	case c.Update:
		return fmt.Sprintf("both the task and %s changed %s; nothing was changed: --ask has the agent resolve that, --leave leaves the conflicts in its files", c.Into, list)
	case c.Task != "":
		return fmt.Sprintf("both the task and %s changed %s; nothing was changed: `tandemux ws update %s --ask` has the agent resolve that, or merge by hand", c.Into, list, c.Task)
	}
	return fmt.Sprintf("both the task and %s changed %s: have the task take those changes over, or merge by hand; nothing was changed", c.Into, list)
}

// Is makes it an ErrConflict.
func (c *Conflicts) Is(target error) bool { return target == filetree.ErrConflict } //nolint:errorlint // that is what Is is for

// StatusCode is the HTTP status that it is answered with.
func (c *Conflicts) StatusCode() int { return http.StatusConflict }
