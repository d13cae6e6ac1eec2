package terminals

import (
	"context"
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/requests"
	"tandemux/host/terminal"
)

// This file makes sure that input reaches a program exactly once, even if the host dies. An input
// is in the terminal's journal before it is typed. The landing and the spool (journal.Spool) tell
// how many typed bytes the pty has taken, and the next host types the rest. If the bytes of an
// accepted input are in neither, only its client has them: it counts as not accepted, and is
// typed when the client, which has no answer, sends it again. If the system can't tell how much
// the pty has taken, input whose writing had begun and not ended may have arrived or not: its
// client is told so when it sends the input again.

// inDoubt is the refusal of a repeated input that may have arrived.
const inDoubt = "the host ended while this was being typed: it may not have arrived"

// atOnce is the most that a terminal writes before Input returns, in bytes.
const atOnce = 4 << 10

// maxDoubts bounds the doubtful inputs that a terminal remembers.
const maxDoubts = 64

// noteInput journals an input that is about to be typed. It keeps the bytes only if they have to
// wait: most are in the pty a moment later, and may be a password.
func (t *Terminal) noteInput(tx core.Tx, d *requests.Dispatch, data string) (in record.Input, noted bool) {
	if t.ch.Journal == nil {
		return in, false
	}
	in = record.Input{Origin: d.By.Origin, Size: uint64(len(data)), End: t.Term.Accepted() + uint64(len(data))}
	if len(data) > atOnce || t.Term.Waits() {
		in.Data = data
	}
	t.ch.Accepted.Note(in.Origin.ClientID, d.Conn.Client.Since, in.Origin.ClientSeq, tx.Seq())
	t.enqueue(tx, in)
	return in, true
}

// enqueue journals an input that waits to be written.
func (t *Terminal) enqueue(tx core.Tx, in record.Input) {
	t.prune()
	t.queue = append(t.queue, in) // first, as journalling may make a checkpoint of it
	t.appendTyped(tx, record.TypeInput, in)
}

func (t *Terminal) appendTyped(tx core.Tx, kind string, in record.Input) {
	t.ts.typing = record.AppendInput(t.ts.typing[:0], in)
	t.record[0] = journal.Record{Type: kind, Version: record.Version, Seq: tx.Seq(), Data: t.ts.typing}
	tx.ApplyAll(t.ch, nil, t.record[:])
}

// noteKeys journals keys that are about to be typed for no dispatch. It returns the offset of
// their end.
func (t *Terminal) noteKeys(tx core.Tx, keys string) (end uint64) {
	in := record.Input{Size: uint64(len(keys)), End: t.Term.Accepted() + uint64(len(keys)), Data: keys}
	if t.ch.Journal != nil {
		t.enqueue(tx, in)
	}
	return in.End
}

// unqueue forgets an input that was not typed.
func (t *Terminal) unqueue(end uint64) {
	t.queue = slices.DeleteFunc(t.queue, func(in record.Input) bool { return in.End == end })
}

// typeIn types the data of a dispatch.
func (t *Terminal) typeIn(tx core.Tx, d *requests.Dispatch, data string) error {
	in, noted := t.noteInput(tx, d, data)
	if tx.Fenced() {
		return terminal.ErrClosed
	}
	err := t.Term.Input(data)
	switch {
	case !noted:
	case err != nil: // nothing was taken: if the refusal is lost, the client may repeat it
		t.unqueue(in.End)
		t.ch.Accepted.Remove(in.Origin.ClientID, in.Origin.ClientSeq)
		in.Data = ""
		t.appendTyped(tx, record.TypeRefused, in)
	case t.Term.Written() >= in.End:
		t.unqueue(in.End)
	case in.Data == "": // the pty has not taken all of it
		in.Data = data
		t.unqueue(in.End)
		t.enqueue(tx, in)
	}
	return err
}

// prune forgets inputs that are written, and old doubts.
func (t *Terminal) prune() {
	done := t.Term.Written()
	doubts := 0
	for _, in := range t.queue {
		if in.End == 0 {
			doubts++
		}
	}
	t.queue = slices.DeleteFunc(t.queue, func(in record.Input) bool {
		if in.End == 0 {
			doubts--
			return doubts >= maxDoubts
		}
		return in.End <= done
	})
}

// queueRecord is a record of the inputs that are not written. It replaces earlier ones.
func (t *Terminal) queueRecord() journal.Record {
	t.prune()
	return record.Queue(t.queue)
}

// retype makes an adopted terminal type what the last host had not begun to, and remembers which
// dispatches are in doubt. The terminal has not started yet.
func (t *Terminal) retype(waiting []record.Input, doubtful []ahp.Origin) error {
	for _, o := range doubtful {
		t.queue = append(t.queue, record.Input{Origin: o})
	}
	for _, in := range waiting {
		if err := t.Term.Retype(in.Data); err != nil {
			return err
		}
		in.Size, in.End = uint64(len(in.Data)), t.Term.Accepted()
		t.queue = append(t.queue, in)
	}
	return nil
}

// noteQueue journals what an adopted terminal is about to type.
func (t *Terminal) noteQueue(tx core.Tx) {
	if t.ch.Journal != nil {
		tx.ApplyAll(t.ch, nil, []journal.Record{t.queueRecord()})
	}
}

// spoolName is the keeper's name of the spool's file.
const spoolName = "typing"

// openSpool reads what the last host was typing when it died. The caller holds no lock.
func (ts *Terminals) openSpool(ctx context.Context, files []keeper.FileInfo) {
	if slices.ContainsFunc(files, func(f keeper.FileInfo) bool { return f.Name == spoolName }) {
		file, err := ts.Keeper().Fetch(ctx, spoolName)
		if err == nil {
			if sp, ok, rerr := journal.ReadSpool(file); ok {
				ts.spooled = sp
			} else {
				err = rerr
			}
			file.Close()
		}
		if err != nil {
			ts.Log.Warn("look at what was being typed", "err", err)
		}
	}
	var err error
	if ts.spool, err = journal.NewSpool(ts.Runtime); err != nil {
		ts.Log.Warn("keys that are being typed may be lost with the host", "err", err)
	}
}

// storeSpool gives the keeper the spool in place of the last host's, of which the journals now
// have what was not typed.
func (ts *Terminals) storeSpool(ctx context.Context) {
	if ts.spool == nil {
		return
	}
	if err := ts.Keeper().Store(ctx, spoolName, ts.spool.File()); err != nil {
		ts.Log.Warn("keys that are being typed may be lost with the host", "err", err)
	}
}

// takeTyped is how many of the bytes typed into a terminal its pty has taken, and the rest of the
// write that had begun.
func (ts *Terminals) takeTyped(proc string, l *journal.Landing) (begun, done uint64, rest string) {
	begun, done = l.Typed()
	if sp := ts.spooled; sp.Owner == proc && sp.At >= done {
		begun, done, rest = sp.At, sp.At, sp.Rest
		l.SetTyped(done)
		l.SetTyping(done)
	}
	return max(begun, done), done, rest
}

const (
	// MaxRunKey bounds RunParams.Key in bytes, maxRuns how many runs with a key a terminal
	// remembers.
	MaxRunKey = 64
	maxRuns   = 16
)

// ranKey says which command a client's x-tandemux/run with a key became. It is journalled in one
// batch with what was typed for it.
type ranKey struct {
	Client string `json:"client"`
	Key    string `json:"key"`
	ID     string `json:"id"`
}

// RanAs is the id of the command of an earlier run with the same key, "" for a new one.
func (t *Terminal) RanAs(_ core.Tx, client, key string) string {
	for _, r := range t.runs {
		if key != "" && r.Key == key && r.Client == client {
			return r.ID
		}
	}
	return ""
}

// TypeLine types line, which runs the command plain for a client, with a key or "". It first
// journals what it types and which command that becomes.
func (t *Terminal) TypeLine(tx core.Tx, line, plain, client, key string) (id string, err error) {
	keys, id, err := t.Term.Keys(line)
	if err != nil {
		return "", err
	}
	if plain != "" {
		t.Term.Name(id, line, plain)
	}
	before := t.runs
	if key != "" {
		t.runs = append(slices.Clone(t.runs[max(0, len(t.runs)+1-maxRuns):]), ranKey{client, key, id})
		t.dirty = true
	}
	if tx.Fenced() {
		return "", core.ErrClosing
	}
	end := t.noteKeys(tx, keys)
	if err := t.Term.Submit(keys); err != nil {
		t.runs, t.dirty = before, true
		t.unqueue(end)
		t.noteQueue(tx)
		return "", err
	}
	return id, nil
}
