package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/local"
	"tandemux/internal/soak"
)

// TestSendOnce: what `tandemux send` types arrives once and in order, and no send
// fails, while one host after the other is killed.
func TestSendOnce(t *testing.T) {
	if beside(t) {
		return
	}
	least := int64(soak.Size(t, soak.Short(1, 2), 200)) // hosts that are killed
	home, _, bin := aHome(t, "tandemux")
	d := local.FindDirs()
	tandemux := func(args ...string) (string, error) {
		out, err := exec.Command(filepath.Join(bin, "tandemux"), args...).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	got := filepath.Join(home, "got")
	id, err := tandemux("new", "--", "sh", "-c", "while read -r word; do echo $word >>"+got+"; [ $word = end ] && exit 7; done")
	if err != nil {
		t.Fatal(id, err)
	}
	id = strings.Fields(id)[0]
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	var kills atomic.Int64
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			time.Sleep(time.Duration(50+rand.IntN(300)) * time.Millisecond) // any instant may be the one
			if pid := hostPid(d.Runtime); pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills.Add(1)
			}
		}
	}()
	var want strings.Builder
	sends := 0
	for i := 0; kills.Load() < least && !t.Failed(); i++ {
		sends++
		if out, err := tandemux("send", id, "--enter", fmt.Sprint("w", i)); err != nil {
			t.Errorf("send %d: %v: %s", i, err, out)
		}
		fmt.Fprintf(&want, "w%d\n", i)
	}
	stop()
	<-done
	if out, err := tandemux("send", id, "--enter", "end"); err != nil {
		t.Fatal(out, err)
	}
	tandemux("wait", id, "--exit") //nolint:errcheck // its exit code is not 0
	want.WriteString("end\n")
	text, err := os.ReadFile(got)
	if err != nil || string(text) != want.String() {
		t.Errorf("arrived: %q (%v)", text, err)
	}
	t.Logf("%d sends, %d kills", sends, kills.Load())
}
