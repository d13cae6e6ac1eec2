package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
)

// TestMessages: the page subscribes when it is asked to, the host keeps that as long as the
// browser is let in, and a message becomes a notification when nobody has the page before
// them. The browser's push service is out of reach of a test: what it would give the page,
// and what it would bring, the test does, by the page's PushManager and by CDP. Package
// host/push has a service that decrypts.
func TestMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	m := newMachine(t)
	b := m.browse()
	link := m.offer("--name", "phone")
	origin := strings.Split(link, "/web/")[0]
	var mu sync.Mutex
	var registration serviceworker.RegistrationID
	chromedp.ListenTarget(b.ctx, func(ev any) {
		if e, is := ev.(*serviceworker.EventWorkerRegistrationUpdated); is {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range e.Registrations {
				registration = r.RegistrationID
			}
		}
	})
	b.do(serviceworker.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		if err := cdpbrowser.SetPermission(&cdpbrowser.PermissionDescriptor{Name: "notifications"}, cdpbrowser.PermissionSettingGranted).WithOrigin(origin).Do(ctx); err != nil {
			return err
		}
		return runScriptEverywhere(ctx, `
			let had = null;
			const given = {endpoint: "https://push.example/of-this-page", keys: {p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", auth: "BTBZMqHH6r4Tts7J_aSIgg"}};
			PushManager.prototype.subscribe = async (o) => { window.asked = o; return had = {toJSON: () => given, unsubscribe: async () => { had = null; return true }} };
			PushManager.prototype.getSubscription = async () => had;
		`)
	}))
	b.pair(link)
	kept := filepath.Join(m.dir, "home", ".local", "state", "tandemux", "push.json")
	if _, err := os.Stat(kept); err == nil {
		t.Error("there is something before anybody asked")
	}
	b.click("Messages to this device")
	b.until("it is on", `[...document.querySelectorAll("button")].some(e => e.innerText === "No messages to this device")`)
	if got := b.eval(`window.asked.userVisibleOnly + " " + window.asked.applicationServerKey.length`); got != "true 65" {
		t.Errorf("it was subscribed with %s", got)
	}
	if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), "https://push.example/of-this-page") {
		t.Errorf("the host keeps %s, %v", text, err)
	}
	b.click("No messages to this device")
	b.until("it is off", `[...document.querySelectorAll("button")].some(e => e.innerText === "Messages to this device")`)
	if text, err := os.ReadFile(kept); err != nil || strings.Contains(string(text), "push.example") {
		t.Errorf("the host keeps %s, %v", text, err)
	}

	deliver := func(text string) {
		t.Helper()
		b.until("a service worker", `navigator.serviceWorker.ready.then(() => true)`)
		mu.Lock()
		id := registration
		mu.Unlock()
		b.do(serviceworker.DeliverPushMessage(origin, id, text))
	}
	shown := `navigator.serviceWorker.ready.then(r => r.getNotifications()).then(all => all.map(n => n.title + ": " + n.body).join())`
	b.until("the worker is there", `!!navigator.serviceWorker.controller`)
	b.do(chromedp.Navigate("about:blank")) // the page is closed
	mu.Lock()
	id := registration
	mu.Unlock()
	b.do(serviceworker.DeliverPushMessage(origin, id, "An agent waits for your answer."))
	b.do(chromedp.Navigate(origin + "/web/"))
	b.until("connected", `document.querySelector(".page")?.dataset.line === "online"`)
	wait(t, "the notification", func() bool { return b.promise(shown) == "tandemux: An agent waits for your answer." })
	// Opened, it leads to the inbox.
	b.click("Chats")
	b.eval(`navigator.serviceWorker.dispatchEvent(new MessageEvent("message", {data: "inbox"})), true`)
	b.until("the inbox", `!!document.querySelector(".inbox")`)
	// With the page before one's eyes there is no second word of it.
	b.promise(`navigator.serviceWorker.ready.then(r => r.getNotifications()).then(all => all.forEach(n => n.close()))`)
	if b.eval(`document.hasFocus()`) == "true" {
		deliver("A terminal waits for you.")
		if got := b.promise(`new Promise(r => setTimeout(r, 500)).then(() => ` + shown + `)`); got != "" {
			t.Errorf("with the page in front of one: %s", got)
		}
	}
	b.clean()
}
