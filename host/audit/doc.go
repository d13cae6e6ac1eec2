// Package audit writes the audit log: who did what to terminals and tokens, and who was
// refused. The log holds no contents, keys or secrets, is bounded in size, and bounds
// refusals, which anybody can cause, by rate. A Log may be used from any goroutine.
package audit
