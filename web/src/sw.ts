// The service worker keeps the page's own files, so that it opens without the host and says
// so. Nothing of terminals, chats or tokens is kept.
const worker: any = self;

const shell = "shell";
const files = ["/web/", "/web/app.js", "/web/app.css", "/web/app.webmanifest", "/web/icon.svg"];

worker.addEventListener("install", (e: any) => e.waitUntil(caches.open(shell).then((c) => c.addAll(files)).then(() => worker.skipWaiting())));

worker.addEventListener("activate", (e: any) => e.waitUntil(worker.clients.claim()));

// The host's newest is taken where it answers; what is kept, where it does not.
worker.addEventListener("fetch", (e: any) => {
  const at = new URL(e.request.url);
  if (e.request.method !== "GET" || at.origin !== location.origin || !files.includes(at.pathname)) return;
  e.respondWith(
    fetch(e.request)
      .then(async (r) => {
        if (r.ok) await (await caches.open(shell)).put(at.pathname, r.clone());
        return r;
      })
      .catch(async () => (await caches.match(at.pathname)) ?? Response.error()),
  );
});

// A message is one of a few fixed texts of the host's. Who has the page before them sees what
// waits there.
worker.addEventListener("push", (e: any) => {
  const show = async () => {
    const all = await worker.clients.matchAll({ type: "window" });
    if (all.some((c: any) => c.focused)) return;
    await worker.registration.showNotification("tandemux", { body: e.data?.text() ?? "Something waits.", icon: "/web/icon.svg", tag: "waits", renotify: true });
  };
  e.waitUntil(show());
});

// Opened, it shows the whole question: the inbox, of a page that is there or of a new one.
worker.addEventListener("notificationclick", (e: any) => {
  e.notification.close();
  const show = async () => {
    const all = await worker.clients.matchAll({ type: "window" });
    const page = all.find((c: any) => new URL(c.url).search === "");
    if (!page) return worker.clients.openWindow("/web/");
    page.postMessage("inbox");
    await page.focus();
  };
  e.waitUntil(show());
});
