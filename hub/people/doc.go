// Package people signs people in to the hub by an OpenID Connect provider that they have:
// on the web page (authorization code with PKCE), and on a command line, whose code they
// confirm in a browser.
//
// A Desk owns what is under way: sign-ins are in the browser's own sealed cookie, codes of
// command lines in memory, bounded and for ten minutes. Sessions are in a KV bucket of
// JetStream, by the hash of their secret, so that every node of the hub knows them; they
// end by themselves or by sign-out, at once. The provider is asked at sign-in only: what a
// person may do (Config.Scopes) follows their name and the groups that it told then, and
// the hub's own file, which is read when the hub starts.
//
// A Desk may be used from any goroutine. It knows nothing of what the scopes guard.
package people
