// Package words writes counts, times, paths, and texts of others for people. It has no state.
package words
