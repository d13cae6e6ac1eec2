package journal

import "errors"

// Checkpoint is a state that is being written. A reader starts from it instead of from the
// records before. It is written to the area that is not current, whose contents are lost
// with Begin. Meanwhile the log continues.
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

// Begin starts a checkpoint of the present state, which includes all that was appended. The
// caller captures that state under the same lock. whole says that it has all that is to be
// restored. A checkpoint that is not whole, which is made during a flood, has the screen
// without history: a reader starts from the one before it if that and its log are intact.
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

// Add writes a part of the state. It may run concurrently with the log's methods. Commit
// returns its error, too.
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

// Commit makes readers start from this checkpoint, followed by the records appended since
// Begin. After an error the log is as before, but the older area is lost.
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

// Abort abandons the checkpoint.
func (c *Checkpoint) Abort() { c.log.making = nil }

// Trim frees the area before the current one, and the memory behind the log's end. Until the
// next checkpoint there is then no Recovered.Earlier. Trim does nothing while a checkpoint is
// being made or if the current one is not whole.
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

// Retire frees the log's memory, when another journal has replaced it: a reader finds no
// checkpoint. The landing stays.
func (l *Log) Retire() {
	if load(l.mem[epochAt:]) != l.epoch {
		return
	}
	for _, a := range l.areas {
		a.begin()
		remove(a.mem)
	}
}

// Trim frees the memory of slots whose bytes were released. The goroutine that reads calls
// it, between chunks.
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
