// Package credential keeps the tokens that clients give for the protected resources of
// agents (AHP, Authentication): in memory only, for as long as they are valid, each
// under the principal that gave it. Nothing here writes, logs or shows one; who starts an
// agent for a principal is given it, as a variable of that agent's environment.
//
// Methods may be called from any goroutine; a nil Store holds nothing. The package does
// not know connections, and can't tell whether a resource accepts a token.
package credential
