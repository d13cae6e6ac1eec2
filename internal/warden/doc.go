// Package warden ends a process group when the process that watches over it dies,
// however it dies: a small shell beside the group waits for the end of its stdin,
// which only the watching process holds.
//
// A Warden belongs to who began it, who dismisses it once when the group is gone.
package warden
