// Package guest has what clients are told of those who look at a terminal by a token that
// is for it alone. It holds values, and no state.
package guest
