// Package words makes what a person reads of counts, times, paths, and texts that
// somebody else chose. It has no state.
package words
