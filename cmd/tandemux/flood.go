package main

import (
	"tandemux/ahp"
	"tandemux/internal/memtrim"
)

// floods notices the ends of floods of output in the interface's process, to give
// back what they took.
var floods memtrim.Trimmer

// Data passes output on.
func (s sinkAdapter) Data(channel ahp.URI, data []byte, seq int64) {
	floods.Add(len(data))
	s.Sink.Data(channel, data, seq)
}
