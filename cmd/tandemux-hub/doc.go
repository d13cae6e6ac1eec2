// Command tandemux-hub is what a fleet of machines meets at, and what makes a machine one
// of it: `tandemux hub …` and `tandemux join …` run it. It is a program of its own, since
// NATS would add half of its size to tandemux.
package main
