// Package journal is memory that outlives the host: what a host wrote there
// before it died, at whatever instruction, the next one finds. It makes that
// memory (a sealed memory file whose descriptor the keeper holds), writes and
// reads logs with checkpoints in it, and lets ptys be read straight into it. It
// knows bytes and names, not what they mean; package host does.
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
// ErrFenced. A Log is for one goroutine at a time (the holder of the host's
// sequencing lock), a Landing's reads for one (the terminal's reader). Create,
// Open, and the memory's alignment are the caller's care; Unmap only when
// nothing uses the memory any more, records included.
//
// # What the host does with it (the wiring, in the order of its making)
//
// Where a record's type is given, its Data is JSON unless said otherwise, and
// Version 1.
//
//  1. terminal: the landing instead of the pool of buffers. Config gets a
//     *journal.Landing (over plain memory when there is no journal: one way for
//     both). read: waitRoom, Begin (false: wait like waitRoom), Read until
//     EAGAIN, Full or an error, then process(Chunk()) as today, whose headroom
//     is Headroom. feed notes under t.mu, with the pending output that belongs
//     to it, the offset that it has come to and, unless both are at rest, the
//     state of decoder and filter (a MarshalBinary of each, small). Take and
//     Content return that mark with the actions. due is also true, with nothing
//     pending, when half of the landing is not released, or OSC marks alone
//     would fill it. Before in.reply is written: SetAnswered(offset).
//  2. sequencer: a batch instead of single actions. applyAll numbers and reduces
//     all actions of a take, then appends one batch to the channel's log, then
//     Release, then sends. Append comes before the first send. Records:
//     "terminal/data" (Seq; Data is the text), "action" (Seq; the envelope with
//     its origin, from which a client's dispatch window is restored, so that
//     none is carried out twice), "terminal/taken" (offset, 8 bytes, and the
//     mark's state). ErrFull: checkpoint at once and append again; when that
//     fails too, say so (log, `x-cotty/host`, the status bar) and go on.
//  3. checkpoints, when Due and before a take is appended: "terminal/state"
//     (value without content, meta, holders, window of each client), then
//     "terminal/part" for each of Content's parts with its command, then
//     "terminal/taken". Content costs milliseconds when history is long, so
//     while output floods, that is when the last whole checkpoint is younger
//     than a second, make a hasty one: Begin(false) with the screen only
//     (Snapshot with history 0). History is then as long as one area's log, at
//     least; a whole one follows when the flood is over. A layout's and later a
//     session's or chat's checkpoint is "state" with its whole value: nothing
//     else is new for them. Their Area may be small; a document that outgrows
//     half of it gets a new, larger journal (Create, checkpoint, Store).
//  4. typed input: "terminal/input" (origin, bytes) when accepted, in the
//     terminal's journal, and "terminal/written" (offset in the input) before
//     each write to the pty. What was accepted and not begun to be written is
//     queued again by the next host; a write that was begun counts as done, and
//     the client is told that these keys may be lost.
//  5. creating: CreateFile in the runtime directory, Map, Create, first
//     checkpoint, keeper.Store under the channel's URI, then keeper.Spawn with
//     Spec.Note (URI, title, claim: enough to adopt when a journal is damaged).
//     Disposing: Discard after Forget. A host that dies between leaves a file
//     without a child, which the next one discards.
//  6. starting: the lock (host.Listen), keeper.Dial, List, Files. For each file,
//     in parallel: Fetch, Map, Open. ErrFormat: as if there were none. Channels
//     from their State and Records, replay logs from Earlier and Records (floor:
//     the Seq before the first), dispatch windows from origins; the next
//     serverSeq is above all that were seen and above the mark. A terminal:
//     keeper.Adopt; a fresh emulator of the size gets the parts and the data
//     after them, its replies dropped; decoder and filter from the last mark;
//     Landing.Resume(its offset) gives output that is processed as if just
//     read, silent up to Answered; then the reader starts. Its actions are
//     appended as always, and only then is anything sent, so a host that dies
//     meanwhile leaves what it found. missing > 0, Damage or Dropped > 0: a
//     line on the terminal's screen says so, and a whole checkpoint is made at
//     once. Children without a journal: from the note, with an empty screen.
//     Exits that List reports go through Terminal.Exit as ever; one whose
//     TerminalExited was logged is not reported again.
//  7. superseded (keeper.ErrSuperseded, ErrFenced): the host closes its
//     connections with a reason and ends; it writes nothing.
//  8. clients: cmd/cotty's dialer starts a host when none answers (startOnce
//     has the lock), so a reconnecting TUI brings it back; a foreground
//     supervisor is not needed. Upgrade: the old host stops reading, flushes,
//     and ends; the new one starts as above, from the new program.
//
// # What it does not do
//
// No files with names, no disk, no sync, no encryption: the memory is as
// private as the host's own, and swapped like it. It does not know what a
// terminal is, and takes no part in deciding what is kept.
package journal
