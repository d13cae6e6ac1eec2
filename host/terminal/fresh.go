package terminal

import (
	"tandemux/ahp"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
)

// given is what viewers were given. Guarded by screen.
type given struct {
	store  output.Store
	fresh  fresh
	passed uint64 // bytes of output
	kept   kept
	clears []clearing
}

// tell gives viewers what no program wrote, to be published, and tells where it begins in
// what they were given.
func (g *given) tell(b []byte) (kept []byte, at uint64) {
	b, at = g.store.Add(b), g.passed
	g.fresh.output(b)
	g.passed += uint64(len(b))
	return b, at
}

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

// publish hands what came to whoever takes, with the mark that belongs to it: a
// Take has all of it or nothing. It reports whether Wake is due; see due. The
// caller holds screen.
func (t *Terminal) publish(later bool) (due bool) {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
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
