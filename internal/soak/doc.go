// Package soak tells tests how much to do: little with -short, which is `make test`,
// more without, or as much as `make soak` asks for by TANDEMUX_SOAK. It is for tests only and keeps nothing.
package soak
