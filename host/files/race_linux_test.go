package files

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"tandemux/ahp/resource"
)

// TestReplacedDirectories: while a directory and a link to another one outside change places
// all the time, all that is asked for in it either happens below the root or is refused.
func TestReplacedDirectories(t *testing.T) {
	y := newYard(t)
	y.file("dir/keep", "")
	y.file("stock/a/b", "b")
	y.link(y.out, "link")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, y.path("dir"), unix.AT_FDCWD, y.path("link"), unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	ctx := context.Background()
	happened := map[string]int{}
	try := func(what string, err error) {
		if err == nil {
			happened[what]++
		}
	}
	transfer := func(from, to string) resource.TransferParams {
		return resource.TransferParams{Source: y.uri(from), Destination: y.uri(to)}
	}
	for range 1000 {
		try("write", y.write("dir/f", "x"))
		try("append", y.write("dir/secret", "+", at(resource.Append, 0)))
		try("create", y.write("dir/g", "x", createOnly))
		try("mkdir", y.Mkdir(y.uri("dir/sub/subsub")))
		try("delete", y.Delete(ctx, y.uri("dir/secret"), false))
		try("delete all", y.Delete(ctx, y.uri("dir/sub"), true))
		try("copy", y.Copy(ctx, transfer("stock", "dir/copy")))
		try("move", y.Move(ctx, transfer("dir/copy/a", "dir/moved")))
		try("delete g", y.Delete(ctx, y.uri("dir/g"), false))
	}
	close(stop)
	<-done
	entries, err := os.ReadDir(y.out)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v (%v)", entries, err)
	}
	y.has("../out/secret", "secret")
	if len(happened) != 9 {
		t.Errorf("of each 1,000 there was done %v", happened)
	}
	y.clean()
}
