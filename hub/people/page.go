package people

import (
	"html"
	"io"
	"net/http"
	"strings"
)

// view is what a page shows.
type view struct {
	Title, Text, Link, Word, Code, Form string
	Enter, Out                          bool // it asks for a code; it has a button to sign out
}

const (
	pageHead = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE - tandemux hub</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}
code{font-size:1.6rem;letter-spacing:.1em;display:block;margin:1rem 0}button,input{font:inherit;padding:.5rem 1rem;margin:0 .5rem .5rem 0}</style>
<h1>TITLE</h1><p>TEXT</p>
`
	pageAsk = `<code>CODE</code>
<form method="post" action="/auth/device/answer"><input type="hidden" name="code" value="CODE"><input type="hidden" name="form" value="FORM">
<button name="answer" value="no" autofocus>Refuse</button> <button name="answer" value="yes">Allow</button></form>
`
	pageEnter = `<form action="/auth/device"><label>Code <input name="code" autocomplete="off" autocapitalize="characters" autofocus></label> <button>Go on</button></form>
`
	pageOut = `<form method="post" action="/auth/logout"><button>Sign out</button></form>
`
	pageLink = `<p><a href="LINK">WORD</a></p>
`
)

// page answers with one of the hub's pages, which have no scripts and load nothing.
func page(w http.ResponseWriter, status int, v view) {
	parts := pageHead
	if v.Code != "" {
		parts += pageAsk
	}
	if v.Enter {
		parts += pageEnter
	}
	if v.Out {
		parts += pageOut
	}
	if v.Link != "" {
		parts += pageLink
	}
	of := []string{"TITLE", v.Title, "TEXT", v.Text, "CODE", v.Code, "FORM", v.Form, "LINK", v.Link, "WORD", v.Word}
	for i := 1; i < len(of); i += 2 {
		of[i] = html.EscapeString(of[i])
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	io.WriteString(w, strings.NewReplacer(of...).Replace(parts)) //nolint:errcheck // who asked is gone
}
