// The service worker keeps the page's own files, so that it opens without the host and says
// so. Nothing of terminals, chats or tokens is kept.
const worker: any = self;

const shell = "shell";
const files = ["/web/", "/web/app.webmanifest", "/web/icon.svg"];
/** Those that the page names with what they are never change. */
const stamped = /\b(?:app|dial)\.\w+\?\w+/g;

async function install() {
  const cache = await caches.open(shell);
  await cache.addAll(files);
  const page = await (await cache.match("/web/"))!.text();
  await cache.addAll((page.match(stamped) ?? []).map((name) => "/web/" + name));
  await worker.skipWaiting();
}

worker.addEventListener("install", (e: any) => {
  e.waitUntil(install());
  // Browsers that know this need not start the worker for them.
  e.addRoutes?.({ condition: { urlPattern: { pathname: "/web/(app|dial)\\..*", search: "?*" } }, source: { cacheName: shell } })?.catch?.(() => {});
});

worker.addEventListener("activate", (e: any) => e.waitUntil(worker.clients.claim()));

/** fetched is a file from the host, which is kept in the place of the one before. */
async function fetched(request: Request, name: string): Promise<Response> {
  const r = await fetch(request);
  if (r.ok) {
    const cache = await caches.open(shell);
    await cache.delete(name, { ignoreSearch: true });
    await cache.put(name, r.clone());
  }
  return r;
}

// The host's newest is taken where it answers; what is kept, where it does not, and where it
// can be no other.
worker.addEventListener("fetch", (e: any) => {
  const at = new URL(e.request.url);
  if (e.request.method !== "GET" || at.origin !== location.origin) return;
  const name = files.includes(at.pathname) ? at.pathname : at.pathname + at.search;
  if (name.match(stamped)) e.respondWith(caches.match(name).then((r) => r ?? fetched(e.request, name)));
  else if (files.includes(name)) e.respondWith(fetched(e.request, name).catch(async () => (await caches.match(name)) ?? Response.error()));
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
