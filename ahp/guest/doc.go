// Package guest has what clients are told about guests: those who look at a terminal with a token that
// is bound to it. It is pure data.
package guest
