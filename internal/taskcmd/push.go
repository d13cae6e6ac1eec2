package taskcmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/cli"
)

// Pushed is what a push of a task's branch did.
type Pushed struct {
	Remote  string   `json:"remote"`
	Branch  string   `json:"branch"` // the remote's
	Commit  string   `json:"commit"`
	Said    []string `json:"said"`              // by git and the remote, line by line
	Address string   `json:"address,omitempty"` // that the remote named, where a pull request is made
}

func newWsPush() *cobra.Command {
	var in struct {
		api.CommitWorkspace
		api.Base
		Force bool `flag:"force" doc:"Replace what the remote's branch has, if that is what was last seen of it"`
	}
	return verb("push WORKSPACE [WHERE] [BRANCH]", `Push a task's work to a remote, or replace a filesystem's files
  push TASK [REMOTE] [BRANCH]   push a task's branch
  push FILESYSTEM DIR           replace a filesystem's files by a directory's

What the task has not committed is committed on its branch, after the check of the
repository. Then your own git pushes it from your repository, with your credentials,
configuration and hooks; nothing of the task's is run. Without REMOTE it is the one that
git pushes to, without BRANCH the task's own name. What the remote says, such as where
to make a pull request, is printed.

Tasks that work on a filesystem get what changed before their next event. With --base it
is done only while the filesystem is at that version.`, &in, func(c *call, args []string) error {
		if len(args) == 2 {
			err := c.do(Request("getFilesystem", nil, args[0]), nil)
			if err == nil {
				got, err := push(c, args[0], args[1], in.Version)
				if err != nil {
					return err
				}
				return show(c, got, fmt.Sprintf("%d changed, version %s", got.Count, got.Version))
			}
			if !isMissing(err) {
				return err
			}
		}
		if in.Version != "" {
			return cli.Usagef("--base is for filesystems, and there is none %q, or no directory", args[0])
		}
		got, err := pushTask(c, args, in.CommitWorkspace, in.Force)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("pushed %.12s to %s of %s", got.Commit, cli.Short(got.Branch), cli.Short(got.Remote))
		if got.Address != "" {
			text += "\n" + cli.Line(got.Address)
		}
		return show(c, got, text)
	}, cli.One[filetree.Synced](), cli.One[Pushed]())
}

// address is where a remote says that a pull request is made.
var address = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^remote:.*?(https?://[!-~]+)`) })

// pushTask commits what is to be pushed, and has the person's git push it.
func pushTask(c *call, args []string, how api.CommitWorkspace, force bool) (p Pushed, err error) {
	if err := c.connect(); err != nil {
		return p, err
	}
	if c.place.Elsewhere() {
		return p, errors.New("the task's repository is on another machine, and your credentials are here: run `tandemux ws push` there")
	}
	done, err := Ask[workspace.Committed](c.Client, "commitWorkspace", how, args[0])
	switch {
	case err != nil:
		return p, c.printed(err)
	case done.Commits == 0:
		return p, errors.New("there is nothing to push: the branch that the task was made from has all that it did")
	}
	args = append(args, "", "")
	p = Pushed{Remote: args[1], Branch: args[2], Commit: done.Commit, Said: []string{}}
	p.Branch = cmp.Or(p.Branch, done.Branch)
	if p.Remote == "" {
		if p.Remote, err = pushRemote(c.Context(), done.Source); err != nil {
			return p, err
		}
	}
	words := []string{"push", "--recurse-submodules=no"} // which the task's commits would name
	if force {
		words = append(words, "--force-with-lease=refs/heads/"+p.Branch)
	}
	cmd := ownGit(c.Context(), done.Source, append(words, "--", p.Remote, done.Commit+":refs/heads/"+p.Branch)...)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return p, fmt.Errorf("run git: %w", err)
	}
	p.hear(c, out)
	if err := cmd.Wait(); err != nil {
		return p, fmt.Errorf("git could not push to %s (%w)%s; the work is on the branch %s of %s", p.Remote, err, p.last(), done.Branch, done.Source)
	}
	return p, nil
}

// maxHeard bounds the lines that are kept of what a remote says, maxHeardLine each, in bytes.
const (
	maxHeard     = 200
	maxHeardLine = 4 << 10
)

// hear notes what git says, and shows it.
func (p *Pushed) hear(c *call, from io.Reader) {
	in := bufio.NewReaderSize(from, maxHeardLine)
	for {
		text, rest, err := in.ReadLine()
		for rest && err == nil { // of a longer line the beginning will do
			_, rest, err = in.ReadLine()
		}
		if err != nil {
			return
		}
		line := strings.TrimRight(cli.Line(string(text)), " \r")
		c.note("%s", line)
		if len(p.Said) < maxHeard {
			p.Said = append(p.Said, line)
		}
		if m := address().FindStringSubmatch(line); m != nil && p.Address == "" {
			p.Address = m[1]
		}
	}
}

// last is what git said last, for an error that is printed without the rest.
func (p *Pushed) last() string {
	for _, line := range slices.Backward(p.Said) {
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") || strings.Contains(line, "rejected") {
			return ": " + strings.TrimSpace(line)
		}
	}
	return ""
}

// pushRemote is the remote that git pushes to by itself.
func pushRemote(ctx context.Context, dir string) (string, error) {
	if name, err := ownGit(ctx, dir, "config", "--get", "remote.pushDefault").Output(); err == nil && len(strings.TrimSpace(string(name))) > 0 {
		return strings.TrimSpace(string(name)), nil
	}
	out, err := ownGit(ctx, dir, "remote").Output()
	if err != nil {
		return "", fmt.Errorf("list the remotes of %s: %w", dir, err)
	}
	all := strings.Fields(string(out))
	switch {
	case slices.Contains(all, "origin"):
		return "origin", nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return "", fmt.Errorf("%s has no remote: add one with `git remote add`, or name a URL", dir)
	}
	return "", fmt.Errorf("%s has several remotes: name one of %s", dir, strings.Join(all, ", "))
}

// ownGit is the person's git in a repository of the person's, whatever repository this
// command was called in.
func ownGit(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX"}, name)
	})
	return cmd
}
