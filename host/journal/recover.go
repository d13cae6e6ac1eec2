package journal

import (
	"errors"
	"fmt"
	"unsafe"
)

// Recovered is what a journal holds. Records' Data lies in the journal's
// memory: it is valid until the next checkpoint begins.
type Recovered struct {
	Name string
	// State is the checkpoint to start from, empty if there was none yet. Whole is as its
	// Begin said.
	State []Record
	Whole bool
	// Records are all that follow State, in order.
	Records []Record
	// Earlier are the records right before State, in order and without a hole, as many as
	// are left. They are for clients that have to catch up.
	Earlier []Record
	// Dropped counts batches missing at the end: the last host could not append them, as
	// the journal was full.
	Dropped uint64
	// Damage says what was damaged and left out, nil for nothing. The host should tell people.
	// Appends fail until it has made a checkpoint.
	Damage error
}

// Open reads a journal that an earlier host left, and takes it over: from now on that host's
// appends and reads of the pty fail with ErrFenced. The landing must be resumed before it is
// used. Whatever is in the memory, Open fails only with ErrFormat. Opening again has the same
// result, except that damage has become a Dropped above 0.
func Open(mem []byte) (*Log, *Landing, Recovered, error) {
	var r Recovered
	if len(mem) > 0 && uintptr(unsafe.Pointer(&mem[0]))%8 != 0 {
		return nil, nil, r, errors.New("journal: the memory is not aligned to 8 bytes")
	}
	o, err := options(mem)
	if err != nil {
		return nil, nil, r, err
	}
	l := layout(mem, o)
	r.Name, r.Dropped = o.Name, l.Dropped()
	l.epoch = load(mem[epochAt:]) + 1
	store(mem[epochAt:], l.epoch)

	var found []contents // newest first
	var damage []error
	for i, a := range l.areas {
		c, err := a.read()
		c.index = i
		switch {
		case err == nil && len(found) == 1 && c.generation > found[0].generation:
			found = []contents{c, found[0]}
		case err == nil:
			found = append(found, c)
		case err != errNoRecord:
			damage = append(damage, err)
		}
	}
	switch len(found) {
	case 0:
		damage = append(damage, errors.New("neither checkpoint is left"))
		l.info = areaInfo{generation: 1, whole: true}
		l.areas[0].terminate(0)
		l.areas[0].commit(l.info)
	case 1:
		damage = append(damage, r.alone(found[0]))
		l.resume(found[0])
	default:
		newer, older := found[0], found[1]
		damage = append(damage, r.join(newer, older))
		if newer.stateErr == nil {
			l.resume(newer)
			break
		}
		// The next checkpoint replaces the damaged one, not the good one.
		l.current, l.info, l.at = older.index, older.areaInfo, older.end
		l.info.generation = newer.generation
	}
	if err := errors.Join(damage...); err != nil {
		r.Damage = fmt.Errorf("the journal of %q: %w", r.Name, err)
		if r.Dropped == 0 {
			store(mem[droppedAt:], 1)
		}
		for _, c := range found { // the next generation is above all
			l.ordinal = max(l.ordinal, c.last)
		}
	}
	return l, newLanding(l, o.Slots), r, nil
}

// resume makes the log continue behind what was read.
func (l *Log) resume(c contents) {
	l.current, l.info, l.at, l.ordinal = c.index, c.areaInfo, c.end, c.last
	// A damaged record behind the end must never be taken for one of the log's.
	l.areas[l.current].terminate(l.at)
}

// alone recovers from one area.
func (r *Recovered) alone(c contents) error {
	if c.stateErr != nil {
		return c.stateErr // without a state the log is useless
	}
	r.State, r.Whole, r.Records = c.checkpoint, c.whole, c.log
	return c.damage
}

// join recovers from the newer area, completed by the older one.
func (r *Recovered) join(newer, older contents) error {
	// The older log's records are first those that the newer checkpoint
	// includes, then those that were copied behind it.
	n := int64(newer.base) - int64(older.base)
	meets := n >= 0 && n <= int64(len(older.log)) && older.generation+1 == newer.generation
	var before []Record
	if meets {
		before = older.log[:n:n]
		if copied := older.log[n:]; len(copied) > len(newer.log) {
			newer.log = copied
			newer.damage = errors.Join(newer.damage, errors.New("the log has lost its beginning, which the one before it still had"))
		}
	}
	usable := meets && older.stateErr == nil
	switch {
	case newer.stateErr == nil && (newer.whole || !usable):
		r.Earlier = before
		return r.alone(newer)
	case usable:
		r.State, r.Whole = older.checkpoint, older.whole
		r.Records = append(before, newer.log...)
		return errors.Join(newer.stateErr, newer.damage)
	}
	// The newer checkpoint is damaged and the older log ends before it.
	if older.stateErr == nil {
		r.State, r.Whole, r.Records = older.checkpoint, older.whole, older.log
	}
	return errors.Join(newer.stateErr, older.stateErr, older.damage)
}
