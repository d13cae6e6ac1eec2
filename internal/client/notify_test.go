package client

import (
	"errors"
	"testing"
)

// TestNotify: a notification goes out and wants no answer; without a connection
// it fails.
func TestNotify(t *testing.T) {
	_, p, c, _ := start(t, Options{})
	if err := c.Notify("x-tandemux/colors", map[string]string{"bg": "#ffffff"}); err != nil {
		t.Fatal(err)
	}
	if req := p.expect("x-tandemux/colors", `{"bg":"#ffffff"}`); !req.IsNotification() {
		t.Error("the host is to answer")
	}
	p.drop()
	<-c.Done()
	if err := c.Notify("x-tandemux/colors", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
