package main

import (
	"fmt"
	"os"

	"tandemux/internal/acptest"
)

// scriptedAgent is the program scripted-agent of the scripts: it does what the
// file says that its argument names.
func scriptedAgent() {
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(acptest.Main(string(script)))
}
