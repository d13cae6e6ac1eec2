package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent/commandline"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/client"
)

// create makes a new task's agent ready for events.
func (l *live) create(ctx context.Context, t store.Task) error {
	if !l.facts.Made {
		return nil // its workspace is being made
	}
	if !l.enter(l.s.waiter(ctx, t, store.Event{Created: t.Created})) {
		return nil
	}
	if t.Session == "" {
		if err := l.sync(ctx, t, (*workspace.Workspace).SyncDown); err != nil {
			return err
		}
	}
	var failed *startError
	err := error(nil)
	if t.Session == "" {
		err = l.s.setUp(ctx, t)
	}
	if err == nil {
		err = l.launch(ctx, &t)
	}
	switch {
	case errors.Is(err, errWaiting):
		return nil
	case errors.As(err, &failed):
		return l.fail(ctx, t, failed.text)
	case err != nil:
		return err
	}
	if err := l.sync(ctx, t, (*workspace.Workspace).SyncUp); err != nil {
		return err
	}
	l.facts.Begun = true
	if _, err := l.s.Store.SettleTask(ctx, t.ID, l.facts); err != nil {
		return err
	}
	l.leave() // its first event queues behind the others
	l.s.note(t, store.Info, "ready")
	l.s.changed(t.ID)
	l.poke() // events may wait
	return nil
}

func (l *live) fail(ctx context.Context, t store.Task, why string) error {
	if _, _, err := l.s.Store.EndTask(ctx, t.ID, store.FailedRun, why); err != nil {
		return err
	}
	l.s.note(t, store.Severe, "failed: "+why)
	l.s.changed(t.ID)
	l.poke()
	return nil
}

// sync copies changes between the workspace and its filesystem with move. It logs what can't be copied
// and leaves that as it is on both sides.
func (l *live) sync(ctx context.Context, t store.Task, move func(*workspace.Workspace, context.Context, workspace.Prefer) (filetree.Synced, error)) error {
	w, err := l.s.Files.Workspace(t.ID)
	if err != nil {
		return err
	}
	got, err := move(w, ctx, workspace.Neither)
	for _, path := range got.Conflicts {
		l.s.note(t, store.Warning, "changed on both sides, and left as it is on both: "+path)
	}
	for _, path := range got.Skipped {
		l.s.note(t, store.Warning, "not kept, as it is no file that could be: "+path)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, filetree.ErrFull) { // a full disk may pass
		// The workspace was deleted, for example. The turn goes on without it.
		l.s.note(t, store.Severe, "the files could not be synchronised: "+err.Error())
		return nil
	}
	return err
}

// work writes what is new in the task's session to the stream, and sends the next event.
func (l *live) work(ctx context.Context, t store.Task) error {
	now := l.look() // all decisions are made on one state; the next one wakes the runner
	if err := l.follow(ctx, &t, now); err != nil {
		return err
	}
	waiting, err := l.s.Store.WaitingEvents(ctx, t.ID)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		return l.rest(ctx, &t)
	}
	// The event may be newer than t, and meant for another version.
	if t, err = l.s.Store.Tasks.Find(ctx, t.ID); err != nil || t.Status.Final() {
		return err // whoever ended it wakes the runner
	}
	if e := waiting[0]; e.Status == store.EventPending && e.Author != adopted && l.s.budgetNow(ctx, t.ID).Over != "" {
		l.leave()
		return nil // whoever raises the limit wakes the runner
	}
	if e := waiting[0]; e.Author != adopted && !l.enter(l.s.waiter(ctx, t, e)) {
		return nil
	}
	err = l.launch(ctx, &t)
	var failed *startError
	switch {
	case errors.Is(err, errWaiting):
		return nil
	case errors.As(err, &failed):
		return l.refuse(ctx, waiting[0], turns.ErrorStart, failed.text)
	case err != nil:
		return err
	}
	if !now.hasChat || now.chat.ActiveTurn != nil || now.had(waiting[0].ID) {
		return nil
	}
	return l.send(ctx, t, waiting[0])
}

// rest sets a task without work to IDLE, and watches its session, in which somebody else may begin a
// turn.
func (l *live) rest(ctx context.Context, t *store.Task) error {
	l.leave()
	if now := l.look(); t.Session != "" && !now.lost && (!now.hasSession || !now.hasChat) {
		if err := l.attach(ctx, t); err != nil && !errors.Is(err, errWaiting) {
			return err
		}
		return nil
	}
	if t.Status != store.Idle && l.look().chat.ActiveTurn == nil {
		if _, err := l.s.Store.SettleTask(ctx, t.ID, l.facts); err != nil {
			return err
		}
		l.s.changed(t.ID)
	}
	return nil
}

// refuse fails an event that could not be begun, or whose turn was lost, with a type of error.
func (l *live) refuse(ctx context.Context, e store.Event, kind, why string) error {
	return l.end(ctx, e, turns.Failed(&ahp.Turn{ID: e.ID}, kind, why))
}

// send begins an event's turn. If a host that died has tried that before, it is the same turn.
func (l *live) send(ctx context.Context, t store.Task, e store.Event) error {
	switch {
	case e.Author == adopted: // the host died before the turn ended
		return l.refuse(ctx, e, turns.ErrorLost, "the turn was lost")
	case t.Facts.Lent && !l.s.queue.WasSent(e.ID): // another host may have it by now
		return l.refuse(ctx, e, turns.ErrorLost, "the host was restarted before the turn was begun: send it again")
	}
	if e.Status == store.EventPending {
		begun, now, err := l.s.Store.BeginEvent(ctx, e.ID, e.ID)
		if err != nil {
			return err
		}
		e, t = begun, now
		l.s.changed(t.ID)
	}
	if err := l.sync(ctx, t, (*workspace.Workspace).SyncDown); err != nil {
		return err
	}
	c, err := l.s.host(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err = c.DispatchWait(ctx, chatOf(t.Session), ahp.ChatTurnStarted{
		TurnID: e.ID, Message: ahp.Message{
			Text: turns.Prompt(e.Content), Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}, Meta: json.RawMessage(`{"` + commandline.Text + `":true}`),
		},
	})
	if refused, is := errors.AsType[*client.RejectedError](err); is {
		now := l.look() // which may not show that turn yet
		if now.chat.ActiveTurn != nil || now.had(e.ID) || strings.HasPrefix(refused.Error(), "TurnInProgress") {
			return nil // somebody else began a turn; its end wakes the runner
		}
		return l.refuse(ctx, e, turns.ErrorStart, refused.Error())
	}
	return err
}

// had reports whether the turn has ended.
func (n seen) had(turn string) bool {
	return slices.ContainsFunc(n.chat.Turns, func(t ahp.Turn) bool { return t.ID == turn })
}

// adopted is the author of events for turns that somebody else began in the task's session.
const adopted = "session"

// follow writes what is new in the task's chat to the stream.
func (l *live) follow(ctx context.Context, t *store.Task, now seen) error {
	if err := l.load(ctx); err != nil {
		return err
	}
	if !now.hasChat {
		return l.bury(ctx, *t, now)
	}
	for _, turn := range l.fresh(now.chat) {
		if err := l.tellTurn(ctx, t, turn, turn.State != ""); err != nil {
			return err
		}
	}
	if a := now.chat.ActiveTurn; a != nil {
		if err := l.tellTurn(ctx, t, a, false); err != nil {
			return err
		}
		return l.spend(ctx, *t, a)
	}
	return nil
}

// bury ends the running event if its session is gone.
func (l *live) bury(ctx context.Context, t store.Task, now seen) error {
	if !now.lost {
		return nil
	}
	waiting, err := l.s.Store.WaitingEvents(ctx, t.ID)
	if err != nil {
		return err
	}
	for _, e := range waiting {
		if e.Status == store.EventRunning {
			return l.refuse(ctx, e, turns.ErrorLost, "the session was ended while the turn ran")
		}
	}
	return nil
}

// load reads told from the store, once.
func (l *live) load(ctx context.Context) error {
	if l.loaded {
		return nil
	}
	open, err := l.s.Store.OpenStream(ctx, l.id)
	if err != nil {
		return err
	}
	l.told = told{}
	for _, e := range open {
		var p Part
		if err := json.Unmarshal(e.Data, &p); err != nil {
			return fmt.Errorf("read event %d of a stream: %w", e.Seq, err)
		}
		l.told.note(p)
	}
	l.loaded = true
	return nil
}

// fresh returns the turns of a chat that have ended and are not in the stream as a whole.
func (l *live) fresh(c ahp.ChatState) []*ahp.Turn {
	from := 0
	if l.facts.LastTurn != "" {
		from = 1 + slices.IndexFunc(c.Turns, func(t ahp.Turn) bool { return t.ID == l.facts.LastTurn })
	}
	var all []*ahp.Turn
	for i := from; i < len(c.Turns); i++ {
		all = append(all, &c.Turns[i])
	}
	return all
}

// tellTurn adds what is new of a turn to the stream. At the turn's end it ends the event.
func (l *live) tellTurn(ctx context.Context, t *store.Task, turn *ahp.Turn, over bool) error {
	if l.told.turn != turn.ID || over {
		e, err := l.event(ctx, *t, turn)
		if err != nil || e.Status != store.EventRunning && e.Status != store.EventPending {
			if err == nil && over {
				l.facts.LastTurn = turn.ID // its end is in the stream already
			}
			return err
		}
		if over {
			return l.end(ctx, e, turn)
		}
		if t.Status == store.Idle {
			if *t, err = l.s.Store.SettleTask(ctx, t.ID, l.facts); err != nil {
				return err
			}
			l.s.changed(t.ID)
		}
	}
	return l.say(ctx, t.ID, turn)
}

// event returns a turn's event, and makes one if somebody else began the turn.
func (l *live) event(ctx context.Context, t store.Task, turn *ahp.Turn) (store.Event, error) {
	e, err := l.s.Store.Events.Get(ctx, turn.ID)
	if err == nil && e.TaskID == t.ID || err != nil && !errors.Is(err, store.NotFound) {
		return e, err
	}
	text := cmp.Or(turn.Message.Text, "(nothing)")
	e, _, err = l.s.Store.AdoptEvent(ctx, store.Event{TaskID: t.ID, Content: []store.Part{store.TextPart(turns.Clip(text, store.MaxContent))}, Author: adopted, Turn: turn.ID})
	return e, err
}

// end writes the end of a turn, with what was said in it as messages, after the files are copied back
// (U4). What was said is in the stream before that.
func (l *live) end(ctx context.Context, e store.Event, turn *ahp.Turn) error {
	if err := l.load(ctx); err != nil {
		return err
	}
	t, err := l.s.Store.Tasks.Find(ctx, e.TaskID)
	if err != nil {
		return err
	}
	turn = l.spent(ctx, t, turn)
	give := t.Status.Final() || l.gaveUp() // drop what the disk has no room for
	if !t.Status.Final() {
		err := l.say(ctx, t.ID, turn)
		if give && isFull(err) {
			turn, err = turns.Failed(turn, turns.ErrorDisk, diskFull), nil
		}
		if err != nil {
			return err
		}
		err = l.sync(ctx, t, (*workspace.Workspace).SyncUp)
		if errors.Is(err, filetree.ErrFull) {
			turn, err = turns.Failed(turn, turns.ErrorDisk, "the disk is full: what it changed stays in its workspace, and goes where it belongs when its next turn ends"), nil
		}
		if err != nil {
			return err
		}
		if w, err := l.s.Files.Workspace(t.ID); err == nil && w.Info().Conflict(t.Name) != "" {
			turn = turns.Failed(turn, turns.ErrorConflict, w.Info().Conflict(t.Name))
		}
	}
	status, outcome, why := turns.Ending(turn)
	end := store.TurnEnd{Event: e.ID, Status: status, Reason: why}
	if !l.keepsItsWords(ctx, t) {
		end.Messages = turns.Messages(turn)
	}
	was, before := l.told.clone(), l.facts
	events, err := encodeParts(l.told.tell(turn, true))
	if err != nil {
		return err
	}
	l.facts.LastTurn = turn.ID
	l.facts.Last = &store.TurnOutcome{EventID: e.ID, Outcome: outcome, Reason: why, Ended: l.s.Now()}
	end.Stream, end.Facts = events, l.facts
	t, err = l.s.Store.EndEvent(ctx, end)
	if give && isFull(err) {
		if len(mustJSON(end)) > smallEnd { // the chat has what was said
			bare := &ahp.Turn{ID: turn.ID, State: turn.State}
			if status == store.EventFailed {
				bare = turns.Failed(bare, turns.ErrorDisk, why)
			}
			l.told = was.clone()
			end.Stream, _ = encodeParts(l.told.tell(bare, true))
			end.Messages = nil
		}
		end.Full = true
		t, err = l.s.Store.EndEvent(ctx, end)
	}
	if err != nil {
		l.told, l.facts = was, before
		return err
	}
	l.s.queue.Over(e.ID)
	l.s.changed(t.ID)
	level, said := store.Info, "event "+e.ID+" "+strings.ToLower(string(status))
	if status == store.EventFailed {
		level = store.Warning
	}
	if why != "" {
		said += ": " + why
	}
	l.s.note(t, level, said)
	l.leave() // frees its place for another task
	l.poke()
	return nil
}

// keepsItsWords reports whether the task's agent consists of hooks, whose messages are stored as they
// come.
func (l *live) keepsItsWords(ctx context.Context, t store.Task) bool {
	if t.LaunchedID == "" {
		return false
	}
	if l.asked.version != t.LaunchedID {
		v, err := l.s.Store.Versions.Get(ctx, t.LaunchedID)
		if err != nil {
			return false
		}
		d, err := registry.DecodeDefinition(v.Definition)
		if err != nil {
			return false
		}
		l.asked.version, l.asked.hooks = v.ID, !d.ACP()
	}
	return l.asked.hooks
}

// say adds what is new of a turn to the stream.
func (l *live) say(ctx context.Context, task string, turn *ahp.Turn) error {
	was := l.told.clone()
	parts := l.told.tell(turn, false)
	if len(parts) == 0 {
		return nil
	}
	err := l.s.append(ctx, task, parts)
	if err != nil {
		l.told = was
	}
	return err
}
