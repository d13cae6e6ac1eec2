package journal

import "errors"

// Checkpoint is a state in the making, from which a reader starts instead of
// from the records before. It is written into the area that is not in use,
// whose contents are lost with Begin; the log goes on meanwhile.
type Checkpoint struct {
	log     *Log
	area    area
	index   int
	info    areaInfo
	from    int    // the log's offset at Begin
	dropped uint64 // at Begin
	at      int
	err     error
}

// Begin starts a checkpoint of the state as of now, after all that was
// appended; the caller captures that state under the same lock. Whole says that
// it has everything that is to be restored. One that is not whole, made in
// haste while output floods, has the screen without its history: a reader
// starts from the checkpoint before it if that one and its log are intact.
func (l *Log) Begin(whole bool) (*Checkpoint, error) {
	switch {
	case load(l.mem[epochAt:]) != l.epoch:
		return nil, ErrFenced
	case l.making != nil:
		return nil, errors.New("journal: a checkpoint is being made already")
	}
	c := &Checkpoint{
		log: l, index: 1 - l.current, area: l.areas[1-l.current], from: l.at, dropped: l.Dropped(),
		info: areaInfo{generation: l.info.generation + 1, base: l.ordinal, whole: whole},
	}
	c.area.begin()
	l.making = c
	return c, nil
}

// Add writes a part of the state. It may run beside the log's methods. An error
// is Commit's too.
func (c *Checkpoint) Add(r Record) error {
	if c.err != nil {
		return c.err
	}
	if c.err = r.check(); c.err != nil {
		return c.err
	}
	if r.size() > len(c.area.mem)-c.at {
		c.err = ErrFull
		return c.err
	}
	c.info.count++
	w := r.put(c.area.mem[c.at:], uint64(c.info.count), 0)
	store(c.area.mem[c.at:], w)
	c.at += r.size()
	return nil
}

// Commit makes it the checkpoint that readers start from, with the records
// appended since Begin behind it. After an error the log is as it was, except
// that the area before is gone.
func (c *Checkpoint) Commit() error {
	l := c.log
	l.making = nil
	switch {
	case c.err != nil:
		return c.err
	case load(l.mem[epochAt:]) != l.epoch:
		return ErrFenced
	case l.Dropped() != c.dropped:
		return ErrFull // records after Begin are missing
	}
	since := l.areas[l.current].mem[c.from:l.at]
	if len(since) > len(c.area.mem)-c.at {
		return ErrFull
	}
	c.info.start = c.at
	copy(c.area.mem[c.at:], since)
	c.at += len(since)
	c.area.terminate(c.at)
	c.area.commit(c.info)
	l.current, l.info, l.at = c.index, c.info, c.at
	store(l.mem[droppedAt:], 0)
	return nil
}

// Abort gives the checkpoint up.
func (c *Checkpoint) Abort() { c.log.making = nil }

// Trim gives memory back that only a busy time needed: the area before the
// current one, and what lies behind the log's end. Afterwards there is no
// Recovered.Earlier until there is another checkpoint. It does nothing while a
// checkpoint is being made or when the current one is not whole.
func (l *Log) Trim() {
	if l.making != nil || !l.info.whole || load(l.mem[epochAt:]) != l.epoch {
		return
	}
	other := l.areas[1-l.current]
	other.begin()
	remove(other.mem)
	end := min((l.at+8+page-1)&^(page-1), len(l.areas[l.current].mem))
	remove(l.areas[l.current].mem[end:])
}

// Retire gives the log up and its memory back, when another journal has what it
// had: a reader finds no checkpoint. The landing stays.
func (l *Log) Retire() {
	if load(l.mem[epochAt:]) != l.epoch {
		return
	}
	for _, a := range l.areas {
		a.begin()
		remove(a.mem)
	}
}

// Trim gives back the memory of slots whose bytes were released. It is for the
// reader's goroutine, between chunks.
func (l *Landing) Trim() {
	if load(l.mem[epochAt:]) != l.epoch {
		return
	}
	done := l.released.Load()
	for i := range l.slots {
		s := &l.slots[i]
		if s.touched == 0 || s.off+uint64(s.n) > done {
			continue
		}
		if i == l.current {
			l.current = -1
		}
		store(s.head[8:], 0)
		s.n, s.off, s.touched = 0, 0, 0
		remove(s.mem)
	}
}
