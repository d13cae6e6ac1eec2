package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"tandemux/host/core"
	"tandemux/host/keeper"
	"tandemux/host/roster"
)

// What happens when the keeper dies, as by SIGKILL: the host has a descriptor of each
// pty, too, so programs don't notice, and their terminals go on. They are orphaned:
// nobody is told how they end, a signal to them goes by their number, and they end
// with this host. For what is new there is another keeper.

// keeper is the connection to the one that starts what is new.
func (h *Host) keeper() *keeper.Client { return h.keepers.Load() }

// followExits forwards exits until the connection to a keeper ends.
func (h *Host) followExits(k *keeper.Client) {
	defer h.following.Done()
	for e := range k.Exits() {
		tx := h.core.Lock()
		t := h.procs.terms[e.ID]
		_, making := h.procs.early[e.ID]
		if making && t == nil {
			h.procs.early[e.ID] = &e
		}
		tx.Unlock()
		switch {
		case t != nil:
			t.t.Exit(e)
		case !making: // one that could not be adopted, or whose start we gave up
			h.forget(context.Background(), e.ID)
		}
	}
	h.keeperLost(k)
}

// keeperLost finds another keeper, or the same again.
func (h *Host) keeperLost(k *keeper.Client) {
	tx := h.core.Lock()
	over := tx.Closing() || h.stopping
	if err := k.Err(); errors.Is(err, keeper.ErrSuperseded) {
		tx.Supersede(err)
		over = true
	}
	tx.Unlock()
	if over {
		return
	}
	h.log.Error("the keeper is gone", "pid", k.Pid(), "err", k.Err())
	if err := h.regainKeeper(); err != nil {
		h.log.Error("no terminals can be started", "err", err)
	}
	h.orphan(k)
}

// regainKeeper connects to another keeper if the connection to the last one has
// ended. The caller holds no lock.
func (h *Host) regainKeeper() error {
	h.regaining.Lock()
	defer h.regaining.Unlock()
	lost := h.keeper()
	select {
	case <-lost.Done():
	default:
		return nil
	}
	if h.cfg.NewKeeper == nil {
		return errors.New("the keeper is gone: end the host with `tandemux stop` and start it again")
	}
	k, err := h.cfg.NewKeeper(h.life)
	if err != nil {
		return fmt.Errorf("the keeper is gone, and no other one starts: %w", err)
	}
	tx := h.core.Lock()
	if tx.Closing() {
		tx.Unlock()
		k.Close()
		return core.ErrClosing
	}
	h.keepers.Store(k)
	h.following.Add(1)
	if k.Pid() != lost.Pid() {
		h.log.Info("another keeper", "pid", k.Pid())
		h.restock(tx)
	}
	tx.Unlock()
	go h.followExits(k)
	h.storeSpool(h.life)
	return nil
}

// restock leaves with a new keeper what the dead one had: all journals but those of
// terminals, which can't be replaced.
func (h *Host) restock(tx core.Tx) {
	h.journals.Empty()
	var all []*core.Channel
	for ch := range tx.Channels() {
		if _, is := ch.Body.(*term); !is && ch.Journal != nil {
			all = append(all, ch)
		}
	}
	for _, ch := range all {
		ch.Journal.Close()
		ch.Journal = nil
		tx.Keep(ch)
	}
	h.journals.Refill()
}

// orphan has the terminals of a keeper whose connection has ended do without it,
// unless it is the one that we have again.
func (h *Host) orphan(k *keeper.Client) {
	tx := h.core.Lock()
	defer tx.Unlock()
	again := h.keeper()
	for _, t := range h.procs.terms {
		if t.keeper != k || tx.Closing() {
			continue
		}
		if again != k && again.Pid() == k.Pid() {
			t.keeper = again
			continue
		}
		t.keeper = nil
		t.orphaned.Store(true)
		if _, ended := t.t.Exited(); ended {
			continue
		}
		t.meta.Orphaned, t.dirty = true, true
		h.following.Add(1)
		go func() {
			defer h.following.Done()
			if t.identity.Wait(h.life) == nil {
				t.t.Exit(keeper.Exit{ID: t.proc, Unknown: true})
			}
		}()
	}
	h.listChanged(tx)
	h.activity.WarnSoon(tx)
}

// signal signals a terminal's process.
func (t *term) signal(ctx context.Context, sig syscall.Signal) error {
	if t.orphaned.Load() {
		return t.identity.Signal(sig, t.t.Foreground())
	}
	return t.h.keeper().Signal(ctx, t.proc, sig)
}

// orphaned says which programs have no keeper, nil when all have one.
func (h *Host) orphaned(tx core.Tx) error {
	var pids []string
	for _, t := range h.terms {
		if t.meta.Orphaned && !t.value.Lifecycle.Exited() {
			pids = append(pids, strconv.Itoa(t.meta.Pid))
		}
	}
	if len(pids) == 0 {
		return nil
	}
	return fmt.Errorf("the keeper is gone: programs that it started run on, until this host ends, and how they end will not be known (pids %s)", strings.Join(pids, ", "))
}

// tellStrays says to the host's owner which programs have no terminal.
func (h *Host) tellStrays(tx core.Tx) {
	var pids []string
	for _, p := range h.roster.Strays() {
		pids = append(pids, fmt.Sprintf("%d %s", p.Pid, p.Name))
	}
	var err error
	if len(pids) > 0 {
		err = fmt.Errorf("programs that it started may still run, without a terminal: `tandemux stop` ends them (pids %s)", strings.Join(pids, ", "))
	}
	h.activity.Trouble(tx, "the keeper is gone", err)
}

// findStrays finds the programs that an earlier keeper has left. It is called before
// anything is started.
func (h *Host) findStrays(children []keeper.Info) {
	all := h.roster.Find(children)
	for _, p := range all {
		h.following.Add(1)
		go func() {
			defer h.following.Done()
			if p.Wait(h.life) == nil {
				h.core.Locked(func(tx core.Tx) {
					h.tellStrays(tx)
					h.enroll(tx)
				})
			}
		}()
	}
	if n := len(all); n > 0 {
		h.log.Warn("programs of an earlier keeper run without a terminal", "programs", n)
		h.core.Locked(func(tx core.Tx) { h.tellStrays(tx) })
	}
}

// enroll writes down which programs run.
func (h *Host) enroll(tx core.Tx) {
	if tx.Closing() {
		return
	}
	var all []roster.Program
	for _, t := range h.terms {
		if t.value.Lifecycle.Exited() || t.identity.Pid == 0 || h.stopping && !t.identity.Alive() {
			continue
		}
		name := t.shell
		if len(t.meta.Command) > 0 {
			name = t.meta.Command[0]
		}
		all = append(all, roster.Program{Terminal: t.ch.URI, Name: filepath.Base(name), Identity: t.identity})
	}
	h.roster.Put(all)
}

// endStrays ends the programs that no keeper holds, at a stop.
func (h *Host) endStrays(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() {
		if err := h.roster.End(ctx); err != nil {
			h.log.Error("end programs without a keeper", "err", err)
		}
	})
	tx := h.core.Lock()
	terms := slices.Clone(h.terms)
	tx.Unlock()
	for _, t := range terms {
		if !t.orphaned.Load() {
			continue
		}
		all.Go(func() {
			if err := t.t.Kill(ctx); err != nil {
				h.log.Error("end a program without a keeper", "err", err)
			}
		})
	}
	all.Wait()
}
