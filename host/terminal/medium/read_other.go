//go:build !linux

package medium

// same reports whether a process group's leader is of this process's user and sees the
// same files: here that can't be known.
func same(int) bool { return false }

func read(byte, string, numbers) []byte { return nil }
