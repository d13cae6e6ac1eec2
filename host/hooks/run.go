package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"tandemux/internal/procgroup"
	"tandemux/internal/statefile"
)

// endTime is how long a program may take to end after SIGTERM.
const endTime = 2 * time.Second

// send carries an event to where the hook says, once; the error says how it failed. id is
// the event's, the same for each attempt.
func (h Hook) send(ctx context.Context, id string, e Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	send := h.post
	if h.URL == "" {
		send = func(ctx context.Context, _ string, body []byte) error { return h.run(ctx, e.Event, body) }
	}
	err = send(limited, id, body)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("it took longer than %v and was ended", h.Timeout)
	}
	return err
}

// run runs the program to its end. Its children that hold its group end with it.
func (h Hook) run(ctx context.Context, kind string, body []byte) error {
	cmd := exec.CommandContext(ctx, h.Run[0], h.Run[1:]...)
	cmd.Env = append(os.Environ(), "TANDEMUX_EVENT="+kind)
	cmd.Stdin = bytes.NewReader(body)
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Dir = home
	}
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, endTime
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return err
	}
	watch, _ := procgroup.Watch(cmd.Process.Pid) //nolint:errcheck // then a dying host leaves it
	defer watch.Release()
	err := cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // nothing is left of its group, mostly
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, exec.ErrWaitDelay) {
		return nil // it did not want to read all, or left a child; it ended well
	}
	return err
}

// post sends it to the address, signed if there is a key.
func (h Hook) post(ctx context.Context, id string, body []byte) error {
	var key []byte
	if h.KeyFile != "" {
		var err error
		if key, err = readKey(h.KeyFile); err != nil {
			return err
		}
	}
	return Post(ctx, calls, h.URL, key, id, body)
}

// readKey reads a secret: "whsec_" and base64, which only its owner may read.
func readKey(path string) ([]byte, error) {
	text, err := statefile.ReadSecret(path, 1<<10)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s holds no key: %s and %d to %d random bytes in base64 (`echo %s$(head -c 32 /dev/urandom | base64)`)", path, keyPrefix, minKey, maxKey, keyPrefix)
	}
	return key, nil
}
