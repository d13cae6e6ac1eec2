package review

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/tasks"
	"tandemux/ui/words"
)

// running reports whether the task is running, so that its files may have half of a change, and
// returns a sentence about it.
func (v *Review) running() (bool, string) {
	t := v.Tasks.Find(v.Task)
	if t == nil || t.Rests() {
		return false, ""
	}
	return true, t.Name + " is at work, so this may be half of a change: "
}

// merge asks the host what merging would do, then the person for the commit's message and whether
// to merge.
func (v *Review) merge(noCheck bool) {
	v.Loop.Say(status.Info, "looking what merging would do")
	v.Tasks.Know(func() { v.lookMerge(noCheck) })
}

func (v *Review) lookMerge(noCheck bool) {
	h, id := v.Tasks.Host(), v.Task
	how := tasks.Merge{NoCheck: noCheck, Look: true}
	how.Running, _ = v.running()
	after(v, "look what merging would do", func(ctx context.Context) (tasks.Merged, error) { return h.MergeTask(ctx, id, how) }, func(m tasks.Merged) {
		v.Loop.Unsay()
		switch {
		case m.Files == 0:
			v.Loop.Say(status.Info, "there is nothing to merge into %s", m.Into)
		case m.Message == "":
			v.mergeIt(m, how)
		default:
			v.inner = overlay.NewBox("the commit's message", m.Message, func(text string) {
				if strings.TrimSpace(text) == "" {
					v.Loop.Say(status.Info, "nothing was merged: the message was empty")
					return
				}
				how.Message = text
				v.mergeIt(m, how)
			})
		}
	})
}

// mergeIt merges if the person confirms it.
func (v *Review) mergeIt(m tasks.Merged, how tasks.Merge) {
	var question string
	how.Running, question = v.running()
	how.Look = false
	question += fmt.Sprintf("merge %s (+%d -%d) into %s?", words.Plural(m.Files, "file"), m.Added, m.Deleted, m.Into)
	if m.Check != "" {
		question += fmt.Sprintf(" `%s` must pass in the task first.", m.Check)
	}
	if m.Behind > 0 {
		how := "u brings them in"
		if m.Check != "" {
			how = "they are brought in before"
		}
		question += fmt.Sprintf(" %s has %s that the task does not have: %s.", m.Into, words.Plural(m.Behind, "commit"), how)
	}
	if n := v.unsent(); n > 0 {
		question += fmt.Sprintf(" The agent was not given %s yet.", words.Plural(n, "comment"))
	}
	h, id := v.Tasks.Host(), v.Task
	v.confirm(question, func() {
		if m.Check != "" {
			v.Loop.Say(status.Info, "running `%s` in the task", m.Check)
		}
		after(v, "bring home what the task changed", func(ctx context.Context) (tasks.Merged, error) {
			return h.MergeTask(ctx, id, how)
		}, func(m tasks.Merged) {
			v.done(fmt.Sprintf("merged %s into %s", words.Plural(m.Files, "file"), m.Into))
		})
	})
}

// unsent counts the comments that the agent was not given.
func (v *Review) unsent() (n int) {
	for _, c := range v.comments() {
		if !c.Given && !c.Resolved {
			n++
		}
	}
	return n
}

// after does something with the task, then calls then. If a check failed it shows the check's
// output.
func after[T any](v *Review, what string, do func(context.Context) (T, error), then func(T)) {
	v.Loop.Async(what, func(ctx context.Context) (func(), error) {
		got, err := do(ctx)
		return func() {
			v.Loop.Dirty |= loop.Panes
			if failed, is := errors.AsType[*tasks.CheckFailed](err); is {
				v.printed(failed)
			} else if err != nil {
				// Here a key does what that command does.
				v.done(what + ": " + strings.ReplaceAll(err.Error(), "`tandemux ws update "+v.name()+" --ask`", "u"))
			} else {
				then(got)
			}
		}, nil
	})
}

func (v *Review) printed(failed *tasks.CheckFailed) {
	var rows []overlay.Row
	for line := range strings.Lines(failed.Output) {
		text := words.Lines(strings.TrimSuffix(line, "\n"))
		rows = append(rows, overlay.Row{Key: strconv.Itoa(len(rows) + 1), Filter: text, Cells: []overlay.Cell{{Text: text}}})
	}
	v.Loop.Unsay()
	v.said = failed.Error()
	v.inner = &overlay.List{Source: overlay.Source{
		Title: "The check has failed: nothing was done", None: "it printed nothing", Width: 200, Columns: []overlay.Column{{Fills: true}},
		Rows: func() []overlay.Row { return rows }, Current: strconv.Itoa(len(rows)),
	}}
}

// update merges what is new at home into the task, or gives up such a merge, after a question.
func (v *Review) update(how tasks.Update) {
	v.Tasks.Know(func() {
		v.Loop.Dirty |= loop.Panes
		var note string
		how.Running, note = v.running()
		question := "bring what is new at home into " + v.name() + ", and have its agent resolve conflicts?"
		if how.Abort {
			question = "give up the update that left conflicts in " + v.name() + "? What its files have is kept in a commit."
		}
		h, id := v.Tasks.Host(), v.Task
		v.confirm(note+question, func() {
			after(v, "update the task", func(ctx context.Context) (string, error) { return h.UpdateTask(ctx, id, how) }, v.done)
		})
	})
}

// done shows what was done or failed, and fetches the changes again.
func (v *Review) done(said string) {
	v.Loop.Unsay()
	v.said = words.Line(said)
	v.again()
	v.Tasks.Changed(v.Task)
}

func (v *Review) name() string {
	if t := v.Tasks.Find(v.Task); t != nil {
		return t.Name
	}
	return "the task"
}

// send asks for a message to the task. The host adds the comments.
func (v *Review) send() {
	label := "tell " + v.name()
	if n := v.unsent(); n > 0 {
		label += ", with " + words.Plural(n, "comment")
	}
	v.write(words.Clean(label), "", v.tellTask)
}

func (v *Review) tellTask(text string) {
	h, id := v.Tasks.Host(), v.Task
	v.Loop.Call("tell the task", func(ctx context.Context) error { return h.SteerTask(ctx, id, text) }, func() {
		v.Loop.Brief("told %s", v.name())
	})
}

// pull asks for a directory and copies the task's files into it.
func (v *Review) pull() {
	h, id := v.Tasks.Host(), v.Task
	v.inner = overlay.NewPrompt("copy "+words.Clean(v.name())+" into the directory", "", func(dir string) {
		if dir = strings.TrimSpace(dir); dir != "" {
			after(v, "copy the task's files", func(ctx context.Context) (string, error) { return h.PullTask(ctx, id, dir) }, v.done)
		}
	})
}
