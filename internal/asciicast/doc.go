// Package asciicast reads and writes recordings of terminals in the formats
// asciicast v2 and v3 (docs.asciinema.org/manual/asciicast/v2 and /v3): a header
// and events, one JSON value a line.
//
// The two differ in the header's shape and in the time of an event, which v2
// counts from the beginning and v3 from the event before; here it counts from
// the beginning. v3 has an event for the end of the program and comments, which
// are skipped. What v2 can't say is left out when it is written.
//
// Nothing here does I/O of its own, knows a clock or keeps a recording: a Writer
// writes each event with one Write, so that what was written so far is a whole
// recording whenever it ends, and a Reader gives one event at a time. Both belong
// to one goroutine. Lines, sizes and times are bounded; a file that goes beyond
// is refused with its line's number, unknown members and events are skipped, as
// the formats ask.
package asciicast
