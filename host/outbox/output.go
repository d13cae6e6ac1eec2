package outbox

import (
	"sync"
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/ahp/wire"
)

// Output is an action of output on the wire: the same bytes for all who watch.
// Its memory is used again when the last connection has written it; in a flood
// that is most of what the host would allocate.
type Output struct {
	buf  []byte
	refs atomic.Int32
}

const (
	// LeastOutput is the least output whose buffer is used again: in a large one
	// little would wait for slow viewers at a high price.
	LeastOutput = 32 << 10
	// maxOutput bounds a buffer that is used again, in bytes.
	maxOutput = 128 << 10
)

var outputs = sync.Pool{New: func() any { return new(Output) }}

// NewOutput encodes output of at least LeastOutput bytes; the caller has one
// reference.
func NewOutput(channel ahp.URI, data string, seq int64) *Output {
	o := outputs.Get().(*Output)
	o.refs.Store(1)
	o.buf = wire.AppendDataEnvelope(o.buf[:0], channel, data, seq)
	return o
}

// Release implements jsonrpc.Shared: one who used it no longer does.
func (o *Output) Release() {
	if o.refs.Add(-1) == 0 && cap(o.buf) <= maxOutput {
		outputs.Put(o)
	}
}

// Bytes are the output's, as long as the caller has a reference.
func (o *Output) Bytes() []byte { return o.buf }
