package local

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"tandemux/internal/daemon"
)

// TestAwaitKeeper: a keeper that was told to end and is still there counts as one whose
// host died, so who stops both waits for both.
func TestAwaitKeeper(t *testing.T) {
	d := Dirs{Dirs: daemon.Dirs{Runtime: t.TempDir(), State: t.TempDir()}}
	if dir := os.Getenv("TANDEMUX_TEST_KEEPER"); dir != "" { // the keeper
		fmt.Sscan(dir, &d.Runtime, &d.State)
		if _, err := d.KeeperPlace().Take(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("there")
		io.ReadAll(os.Stdin) //nolint:errcheck // it ends
		return
	}
	k := exec.Command(os.Args[0], "-test.run=^TestAwaitKeeper$")
	k.Env = append(os.Environ(), "TANDEMUX_TEST_KEEPER="+d.Runtime+" "+d.State)
	in, _ := k.StdinPipe()
	out, _ := k.StdoutPipe()
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
		t.Fatal(line, err)
	}
	if !d.HostDied() {
		t.Error("a keeper without a host and a record: no host is to be brought back")
	}
	ended := make(chan error, 1)
	go func() { in.Close(); ended <- k.Wait() }()
	if !d.AwaitKeeper(k.Process.Pid) {
		t.Error("the keeper has ended, and is waited for")
	}
	if d.HostDied() {
		t.Error("the keeper was waited for, and a host is to be brought back")
	}
	<-ended
}
