// Package outer is the terminal that the interface shows in: what it can do and which
// colours it has, as far as it has said, the look that follows from that and from the
// themes, and what is written to it. It belongs to the event loop.
package outer
