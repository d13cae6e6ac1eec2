// Package filetree keeps trees of files: it reaches them without being led out of them,
// lists them with checksums, changes them, stores them as filesystems, and packs them
// into archives.
//
// # Words
//
// A Manifest lists the files of a tree with their checksums; its version is a checksum
// of the whole. A Tree is a filesystem: a tree that is stored apart from all tasks. A
// Sheet is a file that holds a manifest and what goes with it.
//
// # What is where
//
//	DIR/ID/manifest     the current version: one file, replaced by rename
//	      /packs/       contents, named by the manifest; never changed
//	      /pins/TASK    manifest that a task's comparisons begin with
//
// # Invariants
//
// Whatever dies at whatever instant, a filesystem is at its old version or its new one.
// Only what a power cut takes along can be missing besides, and a checksum says so.
//
// Trees are reached through descriptors of their directories, one component at a time,
// and no symlink is followed (Folder): that is stricter than os.Root, which follows those
// that stay inside and waits for FIFOs. An agent that swaps a directory for a link gains
// nothing.
//
// # Concurrency
//
// Methods of Trees and Tree may be called from any goroutine. Each filesystem has a lock
// for changes; readers have a View, whose manifest does not change and whose packs stay.
// All else is one goroutine's at a time. A program that writes into a directory that is
// scanned or copied is no error: what it has half written is taken as it is.
//
// # What it does not do
//
// It knows no tasks, no git and no rights. Devices, sockets, FIFOs, owners, extended
// attributes and hard links as such are not kept.
package filetree
