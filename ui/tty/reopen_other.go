//go:build !linux

package tty

import "os"

// polled is unused: on other systems terminals may not work with Go's poller.
type polled struct{ *os.File }

func reopen(*os.File) *polled { return nil }

// Cancel implements canceler.
func (p *polled) Cancel() bool { return false }

func (p *polled) tryWrite([]byte) int { return 0 }
