// Where the hosts' lines are, and the one that was opened before the page's script ran.

export const early = "tandemuxLine";

const socket = (path: string, key: string) => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}?page=${encodeURIComponent(key)}`;

/** address is that of the page's WebSocket to its own host, or by that to another one. */
export const address = (key: string, host = "") => socket(host ? `/hosts/${host}/ahp` : "/ahp", key);

/** namesAddress is that of the WebSocket which tells the other hosts' names. */
export const namesAddress = (key: string) => socket("/hosts/", key);

/** begun takes over the line that was opened early; there is one at most, and it is new no more
 * than once. */
export function begun(): WebSocket | undefined {
  const ws: WebSocket | undefined = (globalThis as any)[early];
  (globalThis as any)[early] = undefined; // a script that comes late opens none
  return ws && ws.readyState <= WebSocket.OPEN ? ws : undefined;
}
