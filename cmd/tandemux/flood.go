package main

import (
	"tandemux/ahp"
	"tandemux/internal/ebb"
)

// floods notices the ends of floods of output in the interface's process, to give
// back what they took.
var floods ebb.Ebb

// Data passes output on.
func (s sinkAdapter) Data(channel ahp.URI, data []byte, seq int64) {
	floods.Flow(len(data))
	s.Sink.Data(channel, data, seq)
}
