package main

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func runScriptEverywhere(ctx context.Context, js string) error {
	_, err := page.AddScriptToEvaluateOnNewDocument(js).Do(ctx)
	return err
}

// TestPage: pair, open a terminal, type.
func TestPage(t *testing.T) {
	m := newMachine(t)
	b := m.browse()
	b.pair(m.offer())
	b.shot("empty")
	b.do(chromedp.Click(`[aria-label="new tab"]`))
	b.until("a terminal", `document.querySelectorAll(".pane").length === 1`)
	b.until("a prompt", `tandemux.texts()[0]?.includes("# ") || tandemux.texts()[0]?.includes("$ ")`)
	b.keys("echo wor\"k\"ing\r")
	b.shot("typed")
	b.shows("working")
	b.shot("working")
	b.clean()
}
