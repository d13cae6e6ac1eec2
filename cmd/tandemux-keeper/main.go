package main

import (
	"fmt"
	"os"

	"tandemux/host/keeper"
	"tandemux/internal/daemon"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "tandemux-keeper is started by tandemux")
		os.Exit(2)
	}
	os.Exit(keeper.Main(daemon.Dirs{Runtime: os.Args[2], State: os.Args[3]}))
}
