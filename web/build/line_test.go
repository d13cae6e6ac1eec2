package main

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDeadLine: a line that never opens and says nothing is given up for another.
func TestDeadLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		return runScriptEverywhere(ctx, `let lines = 0; window.WebSocket = new Proxy(WebSocket, {construct: (real, args) => lines++ ? new real(...args) : {readyState: 0, close() {}}})`)
	}))
	b.pair(m.offer())
	b.terminal()
	b.clean()
}
