package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"rsc.io/qr"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/web"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// webAddress is where the host listens for browsers unless told otherwise: this machine
// only, on a port that is kept from then on.
const webAddress = "127.0.0.1:0"

// webLink and webOff are what `tandemux web --json` prints.
type webLink struct {
	Links       []string `json:"links"`                 // those beyond this machine first
	Expires     int64    `json:"expires"`               // of the links, Unix ms
	Certificate string   `json:"certificate,omitempty"` // its fingerprint, where the host listens with its own
	Bundled     bool     `json:"bundled"`               // the program has the page
}

type webOff struct {
	Ended int `json:"ended"` // tokens of browsers
}

func newWebCommand() *cobra.Command {
	var in struct {
		Listen   string   `flag:"listen" value:"ADDRESS" doc:"Listen here from now on, encrypted where other machines reach it"`
		Name     string   `flag:"name" value:"NAME" doc:"What \"tandemux token ls\" calls the browser (default \"browser\")"`
		Scopes   []string `flag:"scope" value:"SCOPE" doc:"What it may do, several parted by commas (default: all)"`
		ReadOnly bool     `flag:"read-only" doc:"It may look only, as --scope terminal:read"`
		Expires  cli.End  `flag:"expires" value:"TIME" doc:"It is let in until then, such as 8h or 2026-12-01 (default: until it is removed)"`
		NoQR     bool     `flag:"no-qr" doc:"Print no QR code"`
		Passkeys bool     `flag:"passkeys" doc:"List the passkeys that let browsers in"`
		Remove   string   `flag:"remove-passkey" value:"ID" doc:"Remove a passkey, and end what it let in"`
		Off      bool     `flag:"off" doc:"End the page, and what browsers were let in by"`
	}
	return cli.WithJSON(cli.Command("web", `Let a browser in: terminals, chats and approvals in a page
It prints a link, and a QR code for a phone. The link works once, within 10 minutes. The
browser is known from then on as a token: "tandemux token ls" shows it and "tandemux token rm"
ends it at once.

The host listens on this machine only, unless --listen or its configuration says otherwise.

  tandemux web
  tandemux web --listen 0.0.0.0:7443 --name phone
  tandemux web --read-only --expires 8h
  tandemux web --off`, &in, func(cmd *cobra.Command, _ []string) error {
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		scopes := strings.FieldsFunc(strings.Join(in.Scopes, ","), func(c rune) bool { return c == ',' })
		for _, s := range scopes {
			if !slices.Contains(auth.AllScopes, s) {
				return cli.Usagef("--scope can't be %q: use %s", s, strings.Join(auth.AllScopes, ", "))
			}
		}
		if in.ReadOnly && len(scopes) > 0 {
			return cli.Usagef("--read-only and --scope exclude each other")
		}
		if in.ReadOnly {
			scopes = []string{auth.ScopeRead}
		}
		offer := map[string]any{"name": cmp.Or(in.Name, "browser"), "scopes": scopes, "listen": in.Listen}
		if !in.Expires.IsZero() {
			offer["expires"] = in.Expires.UnixMilli()
		}
		return p.With(cmd.Context(), endpoint.Options{Start: true}, func(ctx context.Context, s *endpoint.Conn) error {
			end := func(path string, body any, doing, done string) error {
				var off webOff
				if err := askPage(ctx, p, http.MethodDelete, path, body, &off); err != nil {
					return fmt.Errorf("%s: %w", doing, err)
				}
				return cli.Print(cmd, off, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s; browsers' tokens removed: %d\n", done, off.Ended)
					return err
				})
			}
			switch {
			case in.Off:
				return end("offer", nil, "end the page for browsers", "off")
			case in.Remove != "":
				return end("passkey", map[string]string{"id": in.Remove}, "remove the passkey", "removed")
			case in.Passkeys:
				return passkeys(ctx, cmd, p, s)
			}
			got, err := letIn(ctx, p, s, offer)
			if err != nil {
				return err
			}
			return cli.Print(cmd, webLink{got.links, got.Expires, got.fingerprint, got.Bundled}, func(w io.Writer) error {
				return got.print(w, !in.NoQR, "It works once, within 10 minutes. `tandemux token ls` shows the browser then.")
			})
		})
	}), cli.One[webLink](), cli.One[webOff](), cli.One[[]passkeyRow]())
}

// passkeyRow is a passkey, and what the token that it stands for is called.
type passkeyRow struct {
	web.Passkey
	Name string `json:"name"`
}

// passkeys lists the passkeys that let browsers in.
func passkeys(ctx context.Context, cmd *cobra.Command, p endpoint.Endpoint, s *endpoint.Conn) error {
	var all web.Passkeys
	if err := askPage(ctx, p, http.MethodGet, "passkey", nil, &all); err != nil {
		return fmt.Errorf("list the passkeys: %w", err)
	}
	var tokens ahp.TokenListResult
	if err := s.Ask(ctx, ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &tokens); err != nil {
		return err
	}
	rows := []passkeyRow{}
	for _, k := range all.Items {
		// One of a token that is gone lets nobody in, and is forgotten when it is used.
		if i := slices.IndexFunc(tokens.Items, func(t ahp.TokenInfo) bool { return t.ID == k.Tokens[0] }); i >= 0 {
			rows = append(rows, passkeyRow{k, tokens.Items[i].Name})
		}
	}
	return cli.PrintTable(cmd, "there are no passkeys; the page that `tandemux web` opens makes them", "ID\tNAME\tTOKEN\tSITE\tLET IN", rows, func(r passkeyRow) []any {
		return []any{r.ID, r.Name, r.Tokens[0], r.Site, len(r.Tokens) - 1}
	})
}

// askPage asks the host's page for browsers for something.
func askPage(ctx context.Context, p endpoint.Endpoint, method, path string, body, result any) error {
	api, err := p.API(ctx, false)
	if err != nil {
		return err
	}
	defer api.Close()
	return p.ExplainAPI(api.Do(ctx, apiclient.Request{Method: method, Path: web.Prefix + path, Beside: true, Body: body}, result))
}

// letting is an offer to a browser, and where it reaches the host.
type letting struct {
	web.OfferResult
	links       []string // those beyond this machine first
	fingerprint string
}

// letIn makes an offer; a host that listens nowhere does on this machine.
func letIn(ctx context.Context, p endpoint.Endpoint, s *endpoint.Conn, offer map[string]any) (got letting, err error) {
	at, err := addresses(ctx, s)
	if err != nil {
		return got, err
	}
	if len(at.URLs) == 0 && offer["listen"] == "" {
		offer["listen"] = webAddress
	}
	if err := askPage(ctx, p, http.MethodPost, "offer", offer, &got.OfferResult); err != nil {
		return got, fmt.Errorf("let a browser in: %w", err)
	}
	if at, err = addresses(ctx, s); err != nil {
		return got, err
	}
	if p.Own() {
		at.URLs = byAddress(at.URLs)
	}
	query := ""
	if got.ID != "" {
		query = "share"
	}
	got.links, got.fingerprint = linksOf(at.URLs, query, got.Secret), at.Fingerprint
	if len(got.links) == 0 {
		return got, fmt.Errorf("let a browser in: the host listens nowhere: say where, as in `tandemux web --listen 127.0.0.1:7070`")
	}
	return got, nil
}

// addresses asks a host where it listens.
func addresses(ctx context.Context, s *endpoint.Conn) (at ahp.HostResult, err error) {
	err = s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &at)
	return at, err
}

// print prints the links, that which other machines reach first, with its QR code, and what
// there is to say about them.
func (o letting) print(w io.Writer, code bool, note string) error {
	if code {
		if err := printQR(w, o.links[0]); err != nil {
			return err
		}
	}
	for _, l := range o.links {
		fmt.Fprintln(w, l)
	}
	fmt.Fprintln(w, note)
	if o.fingerprint != "" {
		fmt.Fprintf(w, "certificate %s\n", o.fingerprint)
	}
	if !o.Bundled {
		fmt.Fprintln(w, "This host was built without the page: `make build` where the npm registry can be reached, then `tandemux upgrade`.")
	}
	return nil
}

// byAddress puts this machine's addresses before its name, which phones seldom find.
func byAddress(urls []string) (all []string) {
	own, err := os.Hostname()
	addrs, err2 := net.InterfaceAddrs()
	for _, text := range urls {
		if u, bad := url.Parse(text); bad == nil && err == nil && err2 == nil && u.Hostname() == own {
			for _, a := range addrs {
				if n, is := a.(*net.IPNet); is && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
					all = append(all, u.Scheme+"://"+net.JoinHostPort(n.IP.String(), u.Port()))
				}
			}
		}
		all = append(all, text)
	}
	return all
}

// linksOf are the page's addresses at a host's, those beyond this machine first.
func linksOf(urls []string, query, secret string) (links []string) {
	for _, beyond := range []bool{true, false} {
		for _, text := range urls {
			u, err := url.Parse(text)
			if err != nil {
				continue
			}
			if ip := net.ParseIP(u.Hostname()); (ip == nil || !ip.IsLoopback()) != beyond {
				continue
			}
			u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
			u.Path, u.RawQuery, u.Fragment = web.Prefix, query, secret
			links = append(links, u.String())
		}
	}
	return links
}

// printQR draws a text as a QR code in half blocks, light on dark: two rows of modules in
// one of cells, with the border that readers need. Colours are named, so that it can be
// read on any.
func printQR(w io.Writer, text string) error {
	c, err := qr.Encode(text, qr.L)
	if err != nil {
		return fmt.Errorf("draw the QR code: %w", err)
	}
	const border = 2
	begin, end := "", ""
	if f, is := cli.Raw(w).(*os.File); is && term.IsTerminal(int(f.Fd())) {
		w, begin, end = f, "\x1b[97;40m", "\x1b[m"
	}
	cells := [...]string{"█", "▀", "▄", " "} // by which of both is black: none, lower, upper, both
	for y := -border; y < c.Size+border; y += 2 {
		var row strings.Builder
		for x := -border; x < c.Size+border; x++ {
			at := 0
			if c.Black(x, y+1) {
				at = 1
			}
			if c.Black(x, y) {
				at += 2
			}
			row.WriteString(cells[at])
		}
		fmt.Fprintln(w, begin+row.String()+end)
	}
	return nil
}
