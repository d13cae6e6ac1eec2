// Package claims decides who may do what to a terminal, and who holds it after a claim. It
// is pure: values in, values out. A refusal is the reason, shown to people as it is; "" allows.
//
// What else follows from a claim, such as an agent's quota or a screen's colours, is done by
// package terminals.
package claims
