package journal

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
