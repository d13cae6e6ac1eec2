package local

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"tandemux/host/keeper"
	"tandemux/host/listen"
)

// Reach connects to the host, and starts it first when none runs.
func (d Dirs) Reach(ctx context.Context) (net.Conn, error) {
	c, err := d.DialHost(ctx)
	if err == nil || !NobodyThere(err) {
		return c, err
	}
	if err = d.CheckSocket(listen.SocketName); err == nil {
		err = d.StartOnce(func() bool {
			c, err := d.DialHost(ctx)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
	}
	if err != nil {
		return nil, err
	}
	return d.DialHost(ctx)
}

// StartOnce starts the host; of several commands that find none at the same
// moment one starts it and the others wait for it.
func (d Dirs) StartOnce(answers func() bool) error {
	if err := d.Make(); err != nil {
		return err
	}
	unlock, err := d.LockStart()
	if err != nil {
		return err
	}
	defer unlock()
	if answers() {
		return nil
	}
	err = d.bringBack()
	// Who held the lock before may have been killed when its host was about to answer;
	// a host that was killed may leave its lock to what it starts, for an instant.
	for until, again := time.Now().Add(rebindTime), true; err != nil && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if answers() {
			return nil
		}
		if pid, _ := d.HostPlace().Holder(); pid <= 0 && !again { //nolint:errcheck // what can't be asked is as good as nobody
			break
		} else if pid <= 0 {
			again, err = false, d.bringBack()
		}
	}
	return err
}

// LockStart keeps others from starting a host until unlock is called.
func (d Dirs) LockStart() (unlock func(), err error) {
	lock, err := os.OpenFile(filepath.Join(d.Runtime, "start.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the start lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		lock.Close()
		return nil, fmt.Errorf("take the start lock: %w", err)
	}
	return func() { lock.Close() }, nil
}

// endLimit is how long a host may take that ends.
const endLimit = 15 * time.Second

// AwaitEnd waits until the lock is free that a host holds to the last, so that the
// next one can start; false when that takes too long.
func (d Dirs) AwaitEnd() bool {
	f, err := os.Open(filepath.Join(d.Runtime, listen.LockName))
	if err != nil {
		return true // there is none
	}
	defer f.Close()
	for end := time.Now().Add(endLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
			return true
		}
	}
	return false
}

// AwaitKeeper waits until a keeper that was told to end has: while it is there, and no
// host, one that died is to be brought back. False when that takes too long.
func (d Dirs) AwaitKeeper(pid int) bool {
	for end := time.Now().Add(endLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if now, err := d.KeeperPlace().Holder(); err == nil && now != pid {
			return true
		}
	}
	return false
}

// Replace starts a host after the one of before has been told to go. When the
// new program can't, the old one comes back.
func (d Dirs) Replace(r Record, old *os.File) error {
	d.AwaitEnd()
	err := d.bringBack()
	if err == nil {
		return nil
	}
	err = fmt.Errorf("the new host does not start: %w", err)
	if old == nil {
		return err
	}
	if again := d.Start(old, r.Args...); again != nil {
		return fmt.Errorf("%w; neither does the old one: %v; the terminals run on: `tandemux` shows them once a host starts", err, again)
	}
	return fmt.Errorf("%w; the old one (version %s) is back", err, r.Version)
}

// Outdated says, for who opens the interface, that the host runs another program
// than the one on disk; empty when all is well. Nothing is swapped unasked: who
// installs a program may want to look first.
func (d Dirs) Outdated(version string) string {
	r, err := d.ReadRecord()
	if err != nil || r.Program == (identity{}) || r.Foreground {
		return ""
	}
	path, err := Program()
	if err != nil {
		return ""
	}
	if id, err := Identify(path); err != nil || id == r.Program {
		return ""
	}
	if r.Version != version {
		return fmt.Sprintf("the host is version %s and this is %s: `tandemux upgrade` swaps it, shells stay", r.Version, version)
	}
	return "the host runs another program than this one: `tandemux upgrade` swaps it, shells stay"
}

// Keeper reaches the keeper, starting one when none answers.
func (d Dirs) Keeper(ctx context.Context) (*keeper.Client, error) {
	k, err := d.dialKeeper(ctx)
	if err == nil {
		return k, nil
	}
	if !NobodyThere(err) {
		return nil, fmt.Errorf("reach the keeper: %w", err)
	}
	if err := d.Start(nil, "keeper"); err != nil {
		return nil, err
	}
	if k, err = d.dialKeeper(ctx); err != nil {
		return nil, fmt.Errorf("reach the new keeper: %w", err)
	}
	return k, nil
}
