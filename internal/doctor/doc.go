// Package doctor is `tandemux doctor`: it looks at this machine, this user's host and what
// is around them for what keeps tandemux from working well, and takes profiles of a host.
// What it can't know, such as the configuration's mistakes, are checks that it is given.
//
// It changes nothing but the file of a profile, and keeps no state.
package doctor
