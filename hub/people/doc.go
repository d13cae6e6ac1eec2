// Package people signs people in to the hub by an OpenID Connect provider that they have:
// on the web page (authorization code with PKCE), which makes tokens for command lines.
//
// A sign-in that is under way is in the browser's own sealed cookie. Sessions are in a KV bucket of
// JetStream, by the hash of their secret, so that every node of the hub knows them; they
// end by themselves or by sign-out, at once. The provider is asked at sign-in only: what a
// person may do (Config.Scopes) follows their name and the groups that it told then, and
// the hub's own file, which is read when the hub starts.
//
// A Desk may be used from any goroutine. It knows nothing of what the scopes guard.
package people
