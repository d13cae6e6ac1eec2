// Package journal is memory that outlives the host: what a host wrote there
// before it died, at whatever instruction, the next one finds. It makes that
// memory (a sealed memory file whose descriptor the keeper holds), writes and
// reads logs with checkpoints in it, and lets ptys be read straight into it. It
// knows bytes and names, not what they mean; package record does.
//
// A Log and a Landing lie in a Memory. A Journal is a channel's: it has a Memory and
// a name under which the keeper has its file, and when the state outgrows it a larger
// one takes its place, which is written to beside it until the keeper has it. A Shelf
// makes journals, leaves them with the keeper, and has some ready.
//
// # Why it costs little
//
// The file is mapped, so appending is a copy and a checksum: no system call, no
// lock, no wait. Only the process dies, not the machine, and a processor that
// is done with an instruction is done with its stores, so nothing is flushed
// and nothing is synced. History on disk, where that is not so, is not this
// package's.
//
// # Layout
//
// One journal per channel, so that a busy terminal evicts nobody else's and a
// damaged one costs that terminal.
//
//	page 0   magic, format, name; headers of the two areas; epoch; dropped
//	page 1   headers of the slots; answered
//	         slots of 64 KiB (a terminal's only)
//	         area 0: checkpoint, log
//	         area 1: checkpoint, log
//
// Log: batches of records are appended to the current area; a batch is there
// when its first word is, which is stored last. A checkpoint is written to the
// other area while the log goes on, then what was logged meanwhile is copied
// behind it, and one store of a generation makes that area the current one. The
// area before stays until the next checkpoint begins: its records are what
// clients have missed, and it is the fallback when the newer one is damaged.
// Records have ordinals without a hole, by which the two logs join.
//
// Recovery takes the newest checkpoint that is intact and all whole batches
// behind it, up to the first that is damaged (length, CRC-32C, ordinal). It
// never fails and makes nothing up; what it leaves out it says (Recovered). A
// full log refuses, and is whole again after the next checkpoint; it never
// waits. There is no clock in it.
//
// # From the pty to the log
//
// Bytes that the kernel gave out are nowhere else, so read(2) itself must put
// them where they survive, and its count must survive too. The landing is a
// part of the mapping, and a read goes so:
//
//	how many bytes are there?            FIONREAD: n
//	note "adding n at the slot's end"    one store
//	read exactly n                       readv, packet mode (TIOCPKT)
//	note "slot has n more"               one store
//
// SIGKILL takes effect when a system call returns, so most deaths are between
// the last two lines. In packet mode the kernel puts one byte of its own in
// front, which readv leads elsewhere: it was set to a value that is never sent,
// so that the next host sees whether the read took place; and as n bytes were
// there and nobody else reads, it took all of them or none (the kernel does not
// look at signals while it copies). That is exact for every output. Where the
// system has no such thing (not Linux) the memory ahead is filled with 0xFF,
// and what differs afterwards was read: exact but for output whose last byte is
// 0xFF at that instant, which is in no UTF-8 text.
//
// The log then says up to which offset of the stream the actions in it have
// come (a record in the same batch as they, so never one without the other),
// and the next host processes the rest again. A slot is used anew when the log
// has passed it (Release); an interactive terminal uses a few pages of the
// first slot.
//
// Not done: letting the keeper read (it must stay too simple to die); a pipe
// that both hold, with tee(2) (four system calls for a read); logging input and
// replaying it through the emulator (timers and resizes make that inexact).
//
// # Ownership and concurrency
//
// Whoever Created or Opened a journal last has it: Open raises an epoch in the
// memory, and an earlier host's Append, Begin, Commit and Read fail with
// ErrFenced. A Journal and its Log are for one goroutine at a time (the holder of the host's
// sequencing lock), a Landing's reads for one (the terminal's reader). Create,
// Open, and the memory's alignment are the caller's care; Unmap only when
// nothing uses the memory any more, records included. Whoever a Journal's checkpoint is lent to is
// told before.
//
// # Who uses it, and for what
//
// Package host/terminal reads ptys through the landing, even without a journal,
// over plain memory, so that there is one way; it makes the records of its
// checkpoints and marks, and restores a terminal from them (its documentation
// says how). Package host has a journal for each channel: it appends what it is
// about to tell clients, makes checkpoints when Due, leaves files with the
// keeper, and adopts what an earlier host left.
//
// # To the pty
//
// What is typed is written from a file in the keeper's care (Spool), by sendfile
// from the file's own position, which the kernel moves by what the pty took: a next
// host reads off how much that was, however the last one died, and finds the rest
// in the file. How far all typing has come is noted beside the landing (SetTyped).
// Where the system can't do that, SetTyping before a write and SetTyped after it
// tell at least what is in doubt.
//
// # What it does not do
//
// No files with names, no disk, no sync, no encryption: the memory is as
// private as the host's own, and swapped like it. It does not know what a
// terminal is, and takes no part in deciding what is kept.
package journal
