// Package passkey lets browsers in by passkeys (Web Authentication, Level 2): it registers
// them, and checks what they sign.
//
// A Store owns passkeys.json of the state directory (0600): public keys, and the ids of the
// tokens that they stand for; and in memory the challenges that have been given out, for two
// minutes, each good once. Attestation is not asked for: who registers has a token already, so
// the public key is taken as the browser names it, and no CBOR is read. Of what is signed all
// is checked that the standard demands: type, challenge, origin, the page's host name, that a
// person was there and was verified, the signature, and the counter where there is one.
//
// It decides about no token: package web makes and asks about them. A Store's methods may be
// called from any goroutine.
package passkey
