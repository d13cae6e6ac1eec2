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

// Skimmed passes on a screen, in place of a flood.
func (s sinkAdapter) Skimmed(screen ahp.Snapshot) {
	floods.Add(memtrim.Flood)
	s.Sink.Skimmed(screen)
}
