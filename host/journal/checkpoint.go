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
