// Command tandemux-keeper is the keeper without the rest of tandemux, whose start alone
// takes more memory than a keeper needs. A host that finds it beside tandemux runs it as
// `tandemux keeper RUNTIME STATE`, with its directories.
package main
