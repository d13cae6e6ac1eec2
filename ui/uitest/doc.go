// Package uitest drives the real interface without a terminal, a host process
// or a clock.
//
//	u := uitest.New(t, uitest.Options{})
//	u.Press("ctrl+space |")
//	u.Type("ls\r")
//	u.Golden("split")
//
// UI is the program around a ui.Model: it runs the model's commands, delivers
// its timers when Advance moves the clock, decodes the bytes of keys as they
// would come from a keyboard, and shows what the painter wrote on an emulator.
// Everything happens on the test's goroutine, so there is nothing to wait for:
// when a call returns the interface is idle, but for timers.
//
// Host is the other side: a host with the real reducers, whose terminals are
// emulators that run a scripted program. It answers at once, unless Hold asks
// it to keep its answers back.
package uitest
