package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// shared gives a link to one terminal, and the id of the guest's token.
func (m *machine) shared(args ...string) (link, id string) {
	m.Helper()
	var got struct {
		ID    string
		Links []string
	}
	out := m.must(append([]string{"share", "--no-qr", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Links) == 0 {
		m.Fatalf("share: %v: %s", err, out)
	}
	return got.Links[0], got.ID
}

// TestShare: a guest sees one terminal and nothing else of the host, takes it where they
// may, comes back by the cookie, and is out at once when the owner ends it.
func TestShare(t *testing.T) {
	m := newMachine(t)
	m.must("new", "--background", "--name", "build", "--", "cat")
	m.must("new", "--background", "--name", "hidden", "--", "cat")
	owner := m.browse()
	owner.pair(m.offer("--name", "desk"))
	owner.click("Terminals")
	owner.click("build")
	link, id := m.shared("build", "--name", "ana")
	owner.until("it says that it is shared", `document.querySelector(".pane .guests")?.innerText === "shared"`)

	g := m.browse()
	g.pair(link)
	g.until("its screen", `!!document.querySelector(".pane .screen .xterm")`)
	if got := g.eval(`location.pathname + location.search + location.hash`); got != "/web/?share="+id {
		t.Errorf("the guest's address is %s", got)
	}
	for what, js := range map[string]string{
		"lists":           `document.querySelectorAll(".side, .inbox, .list, .tabs").length`,
		"other terminals": `tandemux.terminals.filter(t => t.title !== "build").length`,
		"sessions":        `tandemux.sessions.length`,
		"other channels":  `[...tandemux.states.keys()].filter(u => u !== "ahp-root://" && u !== tandemux.terminals[0].resource).length`,
	} {
		if got := g.eval(js); got != "0" {
			t.Errorf("the guest has %s %s", got, what)
		}
	}
	owner.until("who looks", `/^ana \(Chrome on Linux\) looks$/.test(document.querySelector(".pane .guests")?.innerText)`)
	if ls := m.must("share", "ls"); !strings.Contains(ls, "Chrome on Linux") {
		t.Errorf("share ls: %s", ls)
	}
	g.shot("share-guest")
	owner.shot("share-owner")

	// What the page does not show the host does not give either.
	for _, call := range []string{
		`tandemux.conn.call("createTerminal", {channel: "ahp-terminal:/x", claim: {kind: "client", clientId: tandemux.conn.clientId}})`,
		`tandemux.conn.call("subscribe", {channel: "x-tandemux-layout:/main"})`,
		`tandemux.conn.call("resourceRead", {channel: "ahp-root://", uri: "file:///etc/passwd"})`,
		`tandemux.conn.call("x-tandemux/tokenList", {channel: "ahp-root://"})`,
		`fetch("/web/offer", {method: "POST", headers: {"Content-Type": "application/json", "X-Tandemux-Page": localStorage.getItem("tandemux-page-` + id + `")}, body: "{}"}).then(r => { if (!r.ok) throw 1 })`,
	} {
		if got := g.promise(call + `.then(() => "given", () => "refused")`); got != "refused" {
			t.Errorf("%s: %s", call, got)
		}
	}

	g.do(reload)
	g.until("connected again", `document.querySelector(".page")?.dataset.line === "online"`)
	g.do(navigate(link)) // as from the message that it came in
	g.until("connected again", `document.querySelector(".page")?.dataset.line === "online"`)
	g.click("Take")
	g.until("it is the guest's", `document.querySelector(".pane .who").innerText === "yours"`)
	g.eval(`document.querySelector(".pane textarea").focus(), true`)
	g.keys("from a guest\r")
	owner.shows("from a guest\nfrom a guest")
	owner.until("the claim names the guest", `document.querySelector(".pane .who").innerText === "held by ana"`)
	g.clean()

	m.must("share", "end", "build")
	g.until("out", `document.body.innerText.includes("not shared with you any more")`)
	owner.until("not shared", `!document.querySelector(".pane .guests")`)

	// Opened in a browser that has been let in, a link leaves that as it is.
	link, id = m.shared("build", "--read-only")
	owner.do(navigate(link))
	owner.until("a guest's page", `document.querySelector(".page.guest")?.dataset.line === "online"`)
	owner.do(navigate(strings.Split(link, "/web/")[0] + "/web/"))
	owner.until("its own page", `document.querySelector(".page:not(.guest)")?.dataset.line === "online"`)
	owner.do(navigate(fmt.Sprintf("%s/web/?share=%s", strings.Split(link, "/web/")[0], id)))
	owner.until("a guest's page", `document.querySelector(".page.guest")?.dataset.line === "online"`)
	owner.until("a screen", `document.activeElement.tagName === "TEXTAREA"`)
	owner.keys("x")
	owner.until("a hint, and nothing to take it by", `document.body.innerText.includes("You may look only") && !document.querySelector(".take")`)
	owner.clean()
}
