package terminal

import (
	"tandemux/ahp"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
)

// given is what viewers were given. screen guards it.
type given struct {
	store  output.Store
	fresh  fresh
	passed uint64 // bytes of output
	kept   kept
	clears []clearing
}

// tell gives viewers output that no program wrote, for publish. at is its offset in what
// they were given.
func (g *given) tell(b []byte) (kept []byte, at uint64) {
	b, at = g.store.Add(b), g.passed
	g.fresh.output(b)
	g.passed += uint64(len(b))
	return b, at
}

// fresh is what follows from output and is not published yet, in order. Neither Take nor
// its mark includes it. screen guards it.
type fresh struct {
	items []freshItem
	data  []byte // output after the items, in the store
}

// freshItem is an action and the output before it.
type freshItem struct {
	data []byte
	a    ahp.Action // nil where the output continues elsewhere in the store
}

func (f *fresh) push(a ahp.Action) {
	f.items = append(f.items, freshItem{f.data, a})
	f.data = nil
}

func (f *fresh) output(b []byte) {
	both, ok := output.Join(f.data, b)
	if !ok && len(f.data) > 0 {
		f.push(nil)
	}
	if f.data = both; !ok {
		f.data = b
	}
}

// settle moves everything to p, in order.
func (f *fresh) settle(p *pending) {
	for _, x := range f.items {
		p.output(x.data)
		switch a := x.a.(type) {
		case nil:
		case ahp.TerminalTitleChanged:
			p.title = &a.Title
		case ahp.TerminalCwdChanged:
			p.cwd = &a.Cwd
		default:
			p.push(a)
		}
	}
	p.output(f.data)
	clear(f.items)
	f.items, f.data = f.items[:0], nil
}

// publish makes what is fresh pending, with the mark that belongs to it: a Take has all of
// it or nothing. It reports whether Wake is due; see queue.due. The caller holds screen.
func (t *Terminal) publish(later bool) (due bool) {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.fresh.settle(&t.pending)
	t.lookAtEcho(false)
	p := &t.progress
	p.offset = t.offset
	p.stream = filter.AppendState(p.stream[:0], &t.decoder, &t.filter)
	if t.learnt.Load() {
		t.learnt.Store(false)
		p.facts, p.learnt = t.facts(), true
	}
	return t.due(later)
}

// handOn publishes, unlocks screen and calls Wake if due.
func handOn(t *Terminal) {
	due := t.publish(false)
	t.screen.Unlock()
	t.wakeUp(due)
}
