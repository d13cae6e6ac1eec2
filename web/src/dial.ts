// The first of the page's scripts, and a small one: it opens the line to the host while the
// browser still reads the others. The page takes the line over, or opens one of its own.
import { address, early } from "./line";
import { kept } from "./share";

const pass = location.hash.length > 1 ? undefined : kept();
if (pass && !(early in globalThis)) (globalThis as any)[early] = new WebSocket(address(pass.key));
