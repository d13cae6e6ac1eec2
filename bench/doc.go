// Command bench compares tandemux with the bare pty, tmux from outside:
// each is started on a pty of 120x40 in a home directory of its own, and every
// figure is what arrives at that pty, or what the kernel says of the processes.
//
//	go run ./bench                          # all that is installed
//	go run ./bench -mux raw,tmux,tandemux -case echo,throughput
//
// It needs Linux (/proc), bash, and a built bin/tandemux (`make build`), or the one
// named by -tandemux. Whatever it starts, in sessions of its own, it ends, also when a signal ends
// it. It does one thing at a time, in one goroutine; another waits for the signal. It is no part
// of the product.
//
// docs/contributing/performance.md says what the figures mean and what they were;
// baseline.txt has the Go benchmarks' for `make bench`.
package main
