package keeper

import "golang.org/x/sys/unix"

// sealFiles marks every inherited descriptor but the standard three
// close-on-exec.
func sealFiles() error {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
