// Where the host's line is, and the one that was opened before the page's script ran.

export const early = "tandemuxLine";

/** address is that of the page's WebSocket. */
export const address = (key: string) => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ahp?page=${encodeURIComponent(key)}`;

/** begun takes over the line that was opened early; there is one at most, and it is new no more
 * than once. */
export function begun(): WebSocket | undefined {
  const ws: WebSocket | undefined = (globalThis as any)[early];
  (globalThis as any)[early] = undefined; // a script that comes late opens none
  return ws && ws.readyState <= WebSocket.OPEN ? ws : undefined;
}
