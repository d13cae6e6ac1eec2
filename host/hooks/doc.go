// Package hooks runs the owner's programs, and calls the owner's addresses, when something
// happens on the host.
//
// A Watch makes events of the actions that the host applies. It is called with core's lock
// held, never waits, and does nothing for what no hook asked for. Hooks owns a queue and a
// goroutine for each hook: one event after the other, at most maxWaiting of them waiting,
// beyond which the oldest go and the next one says how many.
//
// What waits when the host ends is not kept. Logs have a hook's name, the kind of the event
// and how it went, never what an event says or a program prints.
package hooks
