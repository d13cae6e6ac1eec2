//go:build !linux

package leak

func memory() string { return "" }
