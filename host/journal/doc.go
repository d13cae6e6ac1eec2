// Package journal is memory that outlives the host: the next host finds what a host wrote
// there, at whatever instruction it died. The memory is a sealed memory file whose descriptor
// the keeper holds. The package writes and reads logs with checkpoints in it, and reads ptys
// straight into it. It does not interpret the bytes; package record does.
//
// A Memory has a Log and a Landing. A Journal is the journal of a channel: a Memory, and the
// name under which the keeper has its file. When the channel's state outgrows it, a larger
// journal replaces it; until the keeper has that one, records go to both. A Shelf makes
// journals, hands them to the keeper, and has spare ones ready.
//
// # Why it costs little
//
// The file is mapped, so appending is a copy and a checksum: no system call, no lock, no
// wait. A host's death does not undo its stores to memory, so nothing is flushed or synced.
// The package does not protect against the death of the machine, and keeps nothing on disk.
//
// # Layout
//
// Each channel has its own journal, so that a busy terminal evicts nothing of another, and
// damage affects only one.
//
//	page 0   magic, format, name; headers of the two areas; epoch; dropped
//	page 1   headers of the slots; answered
//	         slots of 64 KiB (a terminal's only)
//	         area 0: checkpoint, log
//	         area 1: checkpoint, log
//
// Log: batches of records are appended to the current area. A batch exists once its first
// word is stored, which is stored last. A checkpoint is written to the other area while the
// log continues. Then what was logged meanwhile is copied behind it, and storing a generation
// makes that area the current one. The older area stays until the next checkpoint begins: it
// has the records that clients may have missed, and is the fallback if the newer one is
// damaged. Records have consecutive ordinals, by which the two logs join.
//
// Recovery takes the newest intact checkpoint and all complete batches behind it, up to the
// first damaged one (length, CRC-32C, ordinal). It does not fail, and reports what it leaves
// out (Recovered). A full log refuses appends until the next checkpoint; it never waits. The
// format has no times.
//
// # From the pty to the log
//
// Bytes that read(2) returned exist nowhere else, so it must put them where they survive, and
// its count must survive too. The landing is a part of the mapping. A read goes like this:
//
//	how many bytes are there?            FIONREAD: n
//	note "adding n at the slot's end"    one store
//	read exactly n                       readv, packet mode (TIOCPKT)
//	note "slot has n more"               one store
//
// SIGKILL takes effect when a system call returns, so most deaths are between the last two
// lines. In packet mode the kernel puts a byte of its own before the data, and readv puts that
// byte into the slot's header. Before the read the byte there is set to a value that the
// kernel never sends, so the next host sees whether the read took place. As n bytes were there
// and only this goroutine reads, the read took all of them or none (the kernel checks no
// signals while it copies). That is exact for all output. Systems other than Linux have no
// such count: there the memory ahead is filled with 0xFF, and bytes that differ afterwards
// were read. That is exact unless the output ends with the byte 0xFF at that instant, which
// is in no UTF-8 text.
//
// The log says up to which offset of the stream its actions have come (by a record in the
// same batch, so neither exists without the other), and the next host processes the rest
// again. A slot is reused when the log has passed it (Release); an interactive terminal uses
// a few pages of the first slot.
//
// Not done: letting the keeper read (it must stay too simple to fail); a pipe that both hold,
// with tee(2) (four system calls per read); logging output and replaying it through the
// emulator (timers and resizes make that inexact).
//
// # Ownership and concurrency
//
// The host that called Create or Open last owns a journal: Open raises an epoch in the memory,
// and an earlier host's Append, Begin, Commit and Read fail with ErrFenced. A Journal and its
// Log may be used by one goroutine at a time (the holder of the host's sequencing lock), a
// Landing's reads by one (the terminal's reader). The caller aligns the memory, and unmaps it
// only when nothing uses it any more, records included. A borrower of a Journal's checkpoint
// (Lend) is told before its memory changes.
//
// # Who uses it, and for what
//
// Package host/terminal reads ptys through a landing; without a journal, the landing is over
// plain memory, so that there is one way. It makes the records of its checkpoints and marks,
// and restores a terminal from them (see its documentation). Package host/core has a journal
// for each channel: it appends what it is about to send to clients, makes checkpoints when
// Due, hands files to the keeper, and takes over what an earlier host left.
//
// # To the pty
//
// Typed input is written from a file that the keeper holds (Spool), by sendfile from the
// file's own position. The kernel moves the position by what the pty took. However a host
// died, the next one reads the position and finds the rest in the file. The offset up to
// which input is written is noted beside the landing (SetTyped). Where sendfile to a tty does
// not work, SetTyping before a write and SetTyped after it tell at least what is in doubt.
//
// # What it does not do
//
// No named files, no disk, no sync, no encryption: the memory is as private as the host's
// own, and swapped like it. The package does not know what a terminal is, and does not decide
// what is kept.
package journal
