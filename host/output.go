package host

import (
	"sync"
	"sync/atomic"

	"tandemux/ahp"
)

// output is an action of output on the wire: the same bytes for all who watch.
// Its memory is used again when the last connection has written it; in a flood
// that is most of what the host would allocate.
type output struct {
	buf  []byte
	refs atomic.Int32
}

const (
	// leastOutput is the least output whose buffer is used again: in a large one
	// little would wait for slow viewers at a high price.
	leastOutput = 32 << 10
	// maxOutput bounds a buffer that is used again, in bytes.
	maxOutput = 128 << 10
)

var outputs = sync.Pool{New: func() any { return new(output) }}

// newOutput encodes output of at least leastOutput bytes; the caller has one
// reference.
func newOutput(channel ahp.URI, data string, seq int64) *output {
	o := outputs.Get().(*output)
	o.refs.Store(1)
	o.buf = ahp.AppendDataEnvelope(o.buf[:0], channel, data, seq)
	return o
}

// Release implements jsonrpc.Shared: one who used it no longer does.
func (o *output) Release() {
	if o.refs.Add(-1) == 0 && cap(o.buf) <= maxOutput {
		outputs.Put(o)
	}
}

// release gives up the frame's own reference; the frame is not sent any more.
func (f *frame) release() {
	if f.output != nil {
		f.output.Release()
		f.output, f.encoded = nil, [3][]byte{}
	}
}
