package terminals

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"tandemux/host/core"
	"tandemux/host/keeper"
	"tandemux/host/roster"
)

// When the keeper dies, for instance by SIGKILL, programs don't notice and their terminals
// continue: the host has a descriptor of each pty, too. The programs are orphaned: their exit
// codes are not known, the host signals them by their process id, and they end with this host.
// Another keeper starts new programs.

// keepers is the connections to the keepers.
type keepers struct {
	last   atomic.Pointer[keeper.Client] // to the keeper that starts new programs
	regain sync.Mutex                    // held while another keeper is started
	// following counts the goroutines that follow keepers until life ends.
	following sync.WaitGroup
	life      context.Context
	endLife   context.CancelFunc
}

// processes is the keeper's children: which terminal each belongs to, and how it ended.
type processes struct {
	terms map[string]*Terminal
	// early has the children whose terminals are being made: their exit, or nil while they
	// run.
	early map[string]*keeper.Exit
}

// Keeper is the connection to the keeper that starts new programs.
func (ts *Terminals) Keeper() *keeper.Client { return ts.keepers.last.Load() }

// followExits forwards exits until the connection to a keeper ends.
func (ts *Terminals) followExits(k *keeper.Client) {
	defer ts.keepers.following.Done()
	for e := range k.Exits() {
		tx := ts.Core.Lock()
		t := ts.procs.terms[e.ID]
		_, making := ts.procs.early[e.ID]
		if making && t == nil {
			ts.procs.early[e.ID] = &e
		}
		tx.Unlock()
		switch {
		case t != nil:
			t.Term.Exit(e)
		case !making: // it could not be adopted, or its start was given up
			ts.forget(context.Background(), e.ID)
		}
	}
	ts.keeperLost(k)
}

// keeperLost connects to another keeper, or to the same one again.
func (ts *Terminals) keeperLost(k *keeper.Client) {
	tx := ts.Core.Lock()
	over := tx.Closing() || ts.stopping
	if err := k.Err(); errors.Is(err, keeper.ErrSuperseded) {
		tx.Supersede(err)
		over = true
	}
	tx.Unlock()
	if over {
		return
	}
	ts.Log.Error("the keeper is gone", "pid", k.Pid(), "err", k.Err())
	if err := ts.regainKeeper(); err != nil {
		ts.Log.Error("no terminals can be started", "err", err)
	}
	ts.orphan(k)
}

// regainKeeper connects to another keeper if the connection to the last one has
// ended. The caller holds no lock.
func (ts *Terminals) regainKeeper() error {
	ts.keepers.regain.Lock()
	defer ts.keepers.regain.Unlock()
	lost := ts.Keeper()
	select {
	case <-lost.Done():
	default:
		return nil
	}
	if ts.NewKeeper == nil {
		return errors.New("the keeper is gone: end the host with `tandemux stop` and start it again")
	}
	k, err := ts.NewKeeper(ts.keepers.life)
	if err != nil {
		return fmt.Errorf("the keeper is gone, and no other one starts: %w", err)
	}
	tx := ts.Core.Lock()
	if tx.Closing() {
		tx.Unlock()
		k.Close()
		return core.ErrClosing
	}
	ts.keepers.last.Store(k)
	ts.keepers.following.Add(1)
	if k.Pid() != lost.Pid() {
		ts.Log.Info("another keeper", "pid", k.Pid())
		ts.restock(tx)
	}
	tx.Unlock()
	go ts.followExits(k)
	ts.storeSpool(ts.keepers.life)
	return nil
}

// restock gives a new keeper the journals that the dead one had, except those of terminals,
// which can't be replaced.
func (ts *Terminals) restock(tx core.Tx) {
	ts.Journals.Empty()
	var all []*core.Channel
	for ch := range tx.Channels() {
		if _, is := ch.Body.(*Terminal); !is && ch.Journal != nil {
			all = append(all, ch)
		}
	}
	for _, ch := range all {
		ch.Journal.Close()
		ch.Journal = nil
		tx.Keep(ch)
	}
	ts.Journals.Refill()
}

// orphan has the terminals of a keeper whose connection has ended do without it, unless we are
// connected to the same keeper again.
func (ts *Terminals) orphan(k *keeper.Client) {
	tx := ts.Core.Lock()
	defer tx.Unlock()
	again := ts.Keeper()
	for _, t := range ts.procs.terms {
		if t.keeper != k || tx.Closing() {
			continue
		}
		if again != k && again.Pid() == k.Pid() {
			t.keeper = again
			continue
		}
		t.keeper = nil
		t.orphaned.Store(true)
		if _, ended := t.Term.Exited(); ended {
			continue
		}
		t.Meta.Orphaned, t.dirty = true, true
		ts.keepers.following.Go(func() {
			if t.identity.Wait(ts.keepers.life) == nil {
				t.Term.Exit(keeper.Exit{ID: t.proc, Unknown: true})
			}
		})
	}
	ts.Changed(tx)
	ts.Activity.WarnSoon(tx)
}

func (t *Terminal) signal(ctx context.Context, sig syscall.Signal) error {
	if t.orphaned.Load() {
		return t.identity.Signal(sig, t.Term.Foreground())
	}
	return t.ts.Keeper().Signal(ctx, t.proc, sig)
}

// Orphaned says which programs have no keeper, nil when all have one.
func (ts *Terminals) Orphaned(tx core.Tx) error {
	var pids []string
	for _, t := range ts.all {
		if t.Meta.Orphaned && !t.Value.Lifecycle.Exited() {
			pids = append(pids, strconv.Itoa(t.Meta.Pid))
		}
	}
	if len(pids) == 0 {
		return nil
	}
	return fmt.Errorf("the keeper is gone: programs that it started run on, until this host ends, and how they end will not be known (pids %s)", strings.Join(pids, ", "))
}

// tellStrays tells the host's owner which programs have no terminal.
func (ts *Terminals) tellStrays(tx core.Tx) {
	var pids []string
	for _, p := range ts.roster.Strays() {
		pids = append(pids, fmt.Sprintf("%d %s", p.Pid, p.Name))
	}
	var err error
	if len(pids) > 0 {
		err = fmt.Errorf("programs that it started may still run, without a terminal: `tandemux stop` ends them (pids %s)", strings.Join(pids, ", "))
	}
	ts.Activity.Trouble(tx, "the keeper is gone", err)
}

// findStrays finds the programs that an earlier keeper has left. It must be called before any
// program is started.
func (ts *Terminals) findStrays(children []keeper.Info) {
	all := ts.roster.Find(children)
	for _, p := range all {
		ts.keepers.following.Go(func() {
			if p.Wait(ts.keepers.life) == nil {
				ts.Core.Locked(func(tx core.Tx) {
					ts.tellStrays(tx)
					ts.enroll(tx)
				})
			}
		})
	}
	if n := len(all); n > 0 {
		ts.Log.Warn("programs of an earlier keeper run without a terminal", "programs", n)
		ts.Core.Locked(func(tx core.Tx) { ts.tellStrays(tx) })
	}
}

// enroll writes to the roster file which programs run.
func (ts *Terminals) enroll(tx core.Tx) {
	if tx.Closing() {
		return
	}
	var all []roster.Program
	for _, t := range ts.all {
		if t.Value.Lifecycle.Exited() || t.identity.Pid == 0 || ts.stopping && !t.identity.Alive() {
			continue
		}
		name := t.shell
		if len(t.Meta.Command) > 0 {
			name = t.Meta.Command[0]
		}
		all = append(all, roster.Program{Terminal: t.ch.URI, Name: filepath.Base(name), Identity: t.identity})
	}
	ts.roster.Put(all)
}

// End ends all terminals and the keeper, and reports whether it was the first to.
func (ts *Terminals) End(ctx context.Context) bool {
	tx := ts.Core.Lock()
	again := ts.stopping
	ts.stopping = true
	terms := slices.Clone(ts.all)
	tx.Unlock()
	if again {
		return false
	}
	ts.Log.Info("stop: end all terminals")
	var strays sync.WaitGroup
	strays.Go(func() {
		if err := ts.roster.End(ctx); err != nil {
			ts.Log.Error("end programs without a keeper", "err", err)
		}
	})
	for _, t := range terms {
		if !t.orphaned.Load() {
			continue
		}
		strays.Go(func() {
			if err := t.Term.Kill(ctx); err != nil {
				ts.Log.Error("end a program without a keeper", "err", err)
			}
		})
	}
	if err := ts.Keeper().Shutdown(ctx); err != nil {
		ts.Log.Error("end all terminals", "err", err)
	}
	strays.Wait()
	ts.Core.Locked(ts.enroll)
	return true
}

func (ts *Terminals) Ending(core.Tx) bool { return ts.stopping }

// Strays are the programs that an earlier keeper has left.
func (ts *Terminals) Strays() []roster.Program { return ts.roster.Strays() }

// Rebound writes the roster file again, after the runtime directory was removed.
func (ts *Terminals) Rebound(tx core.Tx) {
	ts.roster.Forget()
	ts.enroll(tx)
}
