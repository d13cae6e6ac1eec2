package host

import (
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
)

const (
	// maxRunKey bounds RunParams.Key in bytes, maxRuns the runs with one that a
	// terminal remembers, the newest.
	maxRunKey = 64
	maxRuns   = 16
)

// ranKey says which command a client's x-tandemux/run with a key became. It is
// journalled in one piece with what was typed for it.
type ranKey struct {
	Client string `json:"client"`
	Key    string `json:"key"`
	ID     string `json:"id"`
}

// ranAs finds the command of a run that was asked for before; "" for a new one.
func (t *term) ranAs(client, key string) string {
	for _, r := range t.runs {
		if key != "" && r.Key == key && r.Client == client {
			return r.ID
		}
	}
	return ""
}

// typeKeys types the line of a run: what is typed, and which command it is to
// become, is journalled before.
func (w *wait) typeKeys(tx core.Tx) (id string, err error) {
	t := w.t
	keys, id, err := t.t.Keys(w.line)
	if err != nil {
		return "", err
	}
	if w.plain != "" {
		t.t.Name(id, w.line, w.plain)
	}
	before := t.runs
	if w.key != "" {
		t.runs = append(slices.Clone(t.runs[max(0, len(t.runs)+1-maxRuns):]), ranKey{w.c.Client.ID, w.key, id})
		t.dirty = true
	}
	if tx.Fenced() {
		return "", core.ErrClosing
	}
	end := w.h.noteKeys(tx, t, keys)
	if err := t.t.Submit(keys); err != nil {
		t.runs, t.dirty = before, true
		t.unqueue(end)
		w.h.noteQueue(tx, t)
		return "", err
	}
	return id, nil
}

// again answers a run that was asked for before with the command that it became,
// or waits until that begins.
func (w *wait) again(tx core.Tx, id string) {
	w.command, w.next, w.see = id, true, w.seeBegin
	w.t.flush(tx)
	items := w.t.t.Commands().Items
	for _, item := range items {
		if item.ID == id {
			w.answer(tx, ahp.RunResult{CommandID: id, CommandLine: item.CommandLine}, nil)
			return
		}
	}
	w.timer = w.after(beginTime, func(tx core.Tx) {
		w.answer(tx, nil, ahp.Conflict("run: the command was typed, but the shell has not begun it within %v: look at the terminal with `tandemux read`", beginTime))
	})
}
