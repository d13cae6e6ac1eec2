package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// TestPasskey: a browser that was let in adds a passkey of Chromium's virtual authenticator,
// loses its cookie, and comes back without a link; what it allows a passkey confirms, where
// the configuration says so, or the host refuses it; and it ends with its token.
func TestPasskey(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	config := filepath.Join(m.dir, "home", ".config", "tandemux", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append([]byte("approve-by-passkey = true\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	b := m.browse()
	authenticator := b.authenticator()
	link := m.offer("--name", "phone")
	b.pair(link)
	b.until("an address has no passkeys, and the page says so", `document.body.innerText.includes("at localhost in place of 127.0.0.1")`)

	link = strings.Replace(m.offer("--name", "phone"), "127.0.0.1", "localhost", 1)
	origin := strings.Split(link, "/web/")[0]
	b.pair(link)
	b.click("Add a passkey")
	b.until("added", `document.body.innerText.includes("a passkey was added")`)
	kept := filepath.Join(m.dir, "home", ".local", "state", "tandemux", "passkeys.json")
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("passkeys.json: %v, %v", info, err)
	}

	// Whoever finds the page open adds none: the one that there is confirms it.
	b.eval(`fetch("/web/passkey", { method: "POST", headers: { "X-Tandemux-Page": localStorage.getItem("tandemux-page") } }).then(r => (window.answered = r.status)), true`)
	b.until("refused another", `window.answered === 403`)

	// Its own approval: refused by the host without the passkey, whatever the page does.
	b.click("Chats")
	b.click("New chat with Fake")
	b.until("the chat", `!!document.querySelector(".chat textarea")`)
	b.do(chromedp.Focus(".chat textarea"))
	b.keys("permit\r")
	b.eval(`document.querySelector(".places button").click(), true`) // its label has a number when something waits
	b.until("the call", `!!document.querySelector(".inbox .approval")`)
	b.do(webauthn.SetUserVerified(authenticator, false))
	b.click("Allow")
	b.until("refused", `/NotAllowedError|not allowed|timed out|confirm/i.test(document.querySelector(".said")?.innerText ?? "") && !document.body.innerText.includes("it was answered")`)
	b.until("it may be tried again", `[...document.querySelectorAll(".inbox .approval .yes")].some(e => !e.disabled)`)
	b.do(webauthn.SetUserVerified(authenticator, true))
	b.click("Allow")
	b.until("the agent's word", `document.body.innerText.includes("it was answered: once")`)

	// Without its cookie and key it comes back by the passkey.
	b.do(network.ClearBrowserCookies())
	b.eval(`localStorage.clear(), true`)
	b.do(chromedp.Navigate(origin + "/web/"))
	b.click("Sign in with a passkey")
	b.until("connected", `document.querySelector(".page")?.dataset.line === "online"`)
	if n := strings.Count(m.must("token", "ls"), "phone"); n != 3 {
		t.Errorf("%d tokens are named phone", n)
	}

	// Its host's owner sees it, and whom it let in.
	var listed []struct {
		ID, Site, Name string
		Tokens         []string
	}
	if err := json.Unmarshal([]byte(m.must("web", "--passkeys", "--json")), &listed); err != nil || len(listed) != 1 || listed[0].Site != "localhost" || listed[0].Name != "phone" || len(listed[0].Tokens) != 2 {
		t.Fatalf("the passkeys are %+v, %v", listed, err)
	}
	if out, err := m.run("web", "--remove-passkey", "bm9uZQ"); err == nil || !strings.Contains(out, "there is no such passkey") {
		t.Errorf("a passkey that there is not is removed: %s", out)
	}

	// The end of the token that it stands for is its own.
	for _, row := range strings.Split(m.must("token", "ls"), "\n") {
		if strings.Contains(row, "phone") {
			m.must("token", "rm", strings.Fields(row)[0])
		}
	}
	b.until("out", `document.body.innerText.includes("not let in any more")`)
	b.click("Sign in with a passkey")
	b.until("it lets nobody in", `document.body.innerText.includes("was removed, or is over")`)
	if text, err := os.ReadFile(kept); err != nil || strings.TrimSpace(string(text)) != "[]" {
		t.Errorf("the host keeps %s, %v", text, err)
	}

	// Another, which is removed, ends what it let in, and lets nobody in.
	b.do(webauthn.ClearCredentials(authenticator)) // it would bring the one before as well
	b.pair(strings.Replace(m.offer("--name", "tablet"), "127.0.0.1", "localhost", 1))
	b.click("Add a passkey")
	b.until("added", `document.body.innerText.includes("a passkey was added")`)
	b.do(network.ClearBrowserCookies())
	b.eval(`localStorage.clear(), true`)
	b.do(chromedp.Navigate(origin + "/web/"))
	b.click("Sign in with a passkey")
	b.until("connected", `document.querySelector(".page")?.dataset.line === "online"`)
	if err := json.Unmarshal([]byte(m.must("web", "--passkeys", "--json")), &listed); err != nil || len(listed) != 1 || listed[0].Name != "tablet" {
		t.Fatalf("the passkeys are %+v, %v", listed, err)
	}
	if out := m.must("web", "--remove-passkey", listed[0].ID); out != "removed; browsers' tokens removed: 1\n" {
		t.Errorf("it says %s", out)
	}
	b.until("out", `document.body.innerText.includes("not let in any more")`)
	b.click("Sign in with a passkey")
	b.until("it lets nobody in", `/does not know the passkey/.test(document.body.innerText)`)
	if n := strings.Count(m.must("token", "ls"), "tablet"); n != 1 {
		t.Errorf("%d tokens are named tablet", n)
	}
	b.clean()
}

// TestPasskeyElsewhere: where a passkey confirms what is allowed, it also confirms what an
// agent of another host is allowed by this page, whatever the page sends there.
func TestPasskeyElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	config := filepath.Join(m.dir, "home", ".config", "tandemux", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append([]byte("approve-by-passkey = true\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	m.beside()
	b := m.browse()
	authenticator := b.authenticator()
	b.pair(strings.Replace(m.offer("--name", "phone"), "127.0.0.1", "localhost", 1))
	b.click("Add a passkey")
	b.until("added", `document.body.innerText.includes("a passkey was added")`)
	b.until("the other host", `tandemux.hosts.all.get("build")?.online`)
	b.click("Chats")
	b.click("New chat with Fake on build")
	b.until("the chat", `!!document.querySelector(".chat textarea")`)
	b.do(chromedp.Focus(".chat textarea"))
	b.until("the focus", `!!document.activeElement.closest(".chat")`)
	b.keys("permit\r")
	b.eval(`document.querySelector(".places button").click(), true`)
	b.until("the call", `!!document.querySelector(".inbox .approval")`)

	// What the page sends by hand is refused as what its button sends.
	const send = `(() => { const s = tandemux.sessions.find(s => s.resource.startsWith("ahp-session://build/")), n = tandemux.get(s.resource).inputNeeded[0];
		return tandemux.send(n.chat, {type: "chat/toolCallConfirmed", turnId: n.turnId, toolCallId: n.toolCall.toolCallId, approved: true, confirmed: "user-action"}).then(() => "taken", e => e.message) })()`
	if got := b.promise(send); got != "a passkey has to confirm this first" {
		t.Errorf("an answer by hand: %s", got)
	}
	b.do(webauthn.SetUserVerified(authenticator, false))
	b.click("Allow")
	b.until("refused", `/NotAllowedError|not allowed|timed out|confirm/i.test(document.querySelector(".said")?.innerText ?? "")`)
	b.until("it may be tried again", `[...document.querySelectorAll(".inbox .approval .yes")].some(e => !e.disabled)`)
	b.do(webauthn.SetUserVerified(authenticator, true))
	b.click("Allow")
	b.until("the agent's word", `document.body.innerText.includes("it was answered: once")`)
	b.clean()
}

// authenticator gives the browser a virtual one, which has passkeys.
func (b *browser) authenticator() (id webauthn.AuthenticatorID) {
	b.Helper()
	b.do(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
	return id
}
