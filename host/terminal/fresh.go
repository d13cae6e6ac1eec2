package terminal

import (
	"tandemux/ahp"
	"tandemux/host/terminal/filter"
)

// fresh is what came and is not published yet: what of it is in no Take is in
// no mark either. Guarded by screen.
type fresh struct {
	data  []byte // of output, unless it is in pending already
	found []freshAction
}

// freshAction is an action between the data before at and that behind it.
type freshAction struct {
	at int
	a  ahp.Action
}

func (f *fresh) push(a ahp.Action) { f.found = append(f.found, freshAction{len(f.data), a}) }

// settle moves everything to p, in order.
func (f *fresh) settle(p *pending) {
	p.open = 0
	at := 0
	for _, x := range f.found {
		p.data = append(p.data, f.data[at:x.at]...)
		at = x.at
		switch a := x.a.(type) {
		case ahp.TerminalTitleChanged:
			p.title = &a.Title
		case ahp.TerminalCwdChanged:
			p.cwd = &a.Cwd
		default:
			p.push(a)
		}
	}
	p.data = append(p.data, f.data[at:]...)
	clear(f.found)
	if f.found, f.data = f.found[:0], f.data[:0]; cap(f.data) > 2*slice {
		f.data = nil
	}
}

// progress is the mark that belongs to what is pending. Guarded by mu.
type progress struct {
	offset uint64
	stream []byte // reused, in turn with spare, which the last Taken may have
	spare  []byte
	facts  facts
	learnt bool // facts have changed since the last take
}

// takeMark gives the mark that belongs to what was published. The caller holds
// mu.
func (t *Terminal) takeMark() Taken {
	p := &t.progress
	k := Taken{Offset: p.offset}
	if t.retyped.Load() {
		t.retyped.Store(false)
		p.facts.Typed, p.facts.Entered, p.learnt = t.typed.on.Load(), t.entered.on.Load(), true
	}
	if len(p.stream) > 0 {
		k.Stream = p.stream
		p.stream, p.spare = append(p.spare[:0], p.stream...), p.stream
	}
	if p.learnt {
		k.Facts, p.learnt = p.facts.encode(), false
	}
	return k
}

// publish hands what came to whoever takes, with the mark that belongs to it: a
// Take has all of it or nothing. It reports whether Wake is due; see due. The
// caller holds screen.
func (t *Terminal) publish(later bool) (due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.fresh.found)+len(t.fresh.data) > 0 {
		t.fresh.settle(&t.pending)
	}
	t.pending.open = 0
	p := &t.progress
	p.offset = t.offset
	p.stream = filter.AppendState(p.stream[:0], &t.decoder, &t.filter)
	if t.learnt.Load() {
		t.learnt.Store(false)
		p.facts, p.learnt = t.facts(), true
	}
	return t.due(later)
}
