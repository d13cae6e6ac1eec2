package terminal

import (
	"tandemux/ahp"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
)

// fresh is what came and is not published yet, in order: what of it is in no Take is
// in no mark either. Guarded by screen.
type fresh []freshItem

// freshItem is output, in the store, or an action.
type freshItem struct {
	data []byte
	a    ahp.Action
}

func (f *fresh) push(a ahp.Action) { *f = append(*f, freshItem{a: a}) }

func (f *fresh) output(b []byte) {
	if n := len(*f); n > 0 {
		if both, ok := output.Join((*f)[n-1].data, b); ok {
			(*f)[n-1].data = both
			return
		}
	}
	*f = append(*f, freshItem{data: b})
}

// settle moves everything to p, in order.
func (f *fresh) settle(p *pending) {
	for _, x := range *f {
		switch a := x.a.(type) {
		case nil:
			p.output(x.data)
		case ahp.TerminalTitleChanged:
			p.title = &a.Title
		case ahp.TerminalCwdChanged:
			p.cwd = &a.Cwd
		default:
			p.push(a)
		}
	}
	clear(*f)
	*f = (*f)[:0]
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
	t.fresh.settle(&t.pending)
	p := &t.progress
	p.offset = t.offset
	p.stream = filter.AppendState(p.stream[:0], &t.decoder, &t.filter)
	if t.learnt.Load() {
		t.learnt.Store(false)
		p.facts, p.learnt = t.facts(), true
	}
	return t.due(later)
}
