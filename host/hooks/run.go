package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandemux/internal/procgroup"
)

// endTime is how long a program may take to end after SIGTERM.
const endTime = 2 * time.Second

// Send carries an event to where the hook says, once; the error says how it failed. A
// program's stdout and stderr go to out, nil for nowhere. id is the event's, the same for
// each attempt.
func (h Hook) Send(ctx context.Context, id string, e Event, out *os.File) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	send := h.post
	if h.URL == "" {
		send = func(ctx context.Context, _ string, body []byte) error { return h.run(ctx, e.Event, body, out) }
	}
	err = send(limited, id, body)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("it took longer than %v and was ended", h.Timeout)
	}
	return err
}

// run runs the program to its end. Its children that hold its group end with it.
func (h Hook) run(ctx context.Context, kind string, body []byte, out *os.File) error {
	cmd := exec.CommandContext(ctx, h.Run[0], h.Run[1:]...)
	cmd.Env = append(os.Environ(), "TANDEMUX_EVENT="+kind)
	cmd.Stdin = bytes.NewReader(body)
	if out != nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
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

// refusedError is an answer that another attempt would not change.
type refusedError struct{ status string }

func (e refusedError) Error() string { return "it answered " + e.status }

// calls are the POSTs. What an address redirects to is not what the owner named.
var calls = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// post sends it to the address, signed if there is a key (U95; Standard Webhooks 1.0.0).
func (h Hook) post(ctx context.Context, id string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address can't be used")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", at)
	if h.KeyFile != "" {
		key, err := readKey(h.KeyFile)
		if err != nil {
			return err
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
		r.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	a, err := calls.Do(r)
	if err != nil {
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err // the address may hold a secret
		}
		return err
	}
	defer a.Body.Close()
	io.CopyN(io.Discard, a.Body, 4<<10) //nolint:errcheck // so that the connection can be used again
	switch {
	case a.StatusCode < 300:
		return nil
	case a.StatusCode >= 500, a.StatusCode == http.StatusTooManyRequests, a.StatusCode == http.StatusRequestTimeout:
		return fmt.Errorf("it answered %s", a.Status)
	}
	return refusedError{a.Status}
}

const (
	keyPrefix = "whsec_"
	minKey    = 24 // bytes, as Standard Webhooks wants
	maxKey    = 64
)

// readKey reads a secret: "whsec_" and base64, which only its owner may read.
func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may read the key: `chmod 600 %s`", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(text)), keyPrefix))
	if err != nil || len(key) < minKey || len(key) > maxKey {
		return nil, fmt.Errorf("%s holds no key: %s and %d to %d random bytes in base64 (`echo %s$(head -c 32 /dev/urandom | base64)`)", path, keyPrefix, minKey, maxKey, keyPrefix)
	}
	return key, nil
}
