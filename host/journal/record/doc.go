// Package record is what channels' journals hold: it makes the records that a host
// writes, and reads what an earlier host left (Read), down to which input is to be
// typed again (Contents.Typed) and which journal is whose (Divide).
//
// A checkpoint is a "channel" record, "state", "private" when the channel has facts
// that are in no action, and what the channel's kind adds; the log after it are
// actions and notes. A reader skips types and versions that it does not know.
//
// All of it is values: nothing here writes, waits or takes a lock. Records that Read
// gives lie in the journal's memory; see journal.Record. What a channel's kind adds is
// its own: package host/terminal makes and reads a terminal's.
package record
