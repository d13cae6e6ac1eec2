// Package config reads the user's configuration: config.toml and the themes
// beside it. A table of options holds each one's name, kind, default, range,
// documentation and what it needs to take effect; reading, the commented file
// that `tandemux config default` prints and docs/configuration.md are made of it.
//
// Read and Load report every fault with its line and give the defaults in the
// faulty options' places; whether faults stop anything is the caller's to say.
// The files are bounded. A Config is a value that its reader owns. Follow has a
// goroutine that tells when the files change and ends with its context; nothing
// else keeps state, and everything may be used from any goroutine.
package config
