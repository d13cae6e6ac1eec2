// Package fault has errors that are of a Kind: by that callers tell them apart, with
// errors.Is, and HTTP answers them with its status. Their texts are for people. Values
// don't change, and any goroutine may use them.
package fault
