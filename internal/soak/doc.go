// Package soak tells tests how much to do: little, or as much as `make soak` asks for
// by TANDEMUX_SOAK. It is for tests only and keeps nothing.
package soak
