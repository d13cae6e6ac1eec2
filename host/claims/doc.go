// Package claims decides who may do what to a terminal, and what a claim makes of who holds
// it. It is pure: values in, values out, and the reason of a refusal, which is shown to
// people as it is, or "".
//
// It changes nothing: what follows from a claim, such as the slot of an agent or the
// colours of a screen, is package terminals'.
package claims
