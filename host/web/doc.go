// Package web is the host's page for browsers: a door that serves the page's files, and
// gives a browser the token that it connects with.
//
//	GET    /web/…      the page, its script, its style
//	POST   /web/offer  operator: {name, scopes, expires, listen}: a secret that a browser
//	                   may come with once, within minutes
//	POST   /web/pair   {secret}: a cookie with a token, and the page's key
//	GET    /web/push   a token: the key to subscribe with at a push service
//	POST   /web/push   a token: {endpoint, keys}: a browser is told what waits (package push)
//	DELETE /web/push   a token: no more
//	GET    /web/passkey          operator: which there are
//	DELETE /web/passkey          operator: {id}: no more, nor whom it let in
//	POST   /web/passkey          a token: what to make a passkey of
//	PUT    /web/passkey          a token: the passkey (package passkey)
//	POST   /web/passkey/ask      what to use a passkey for
//	PUT    /web/passkey/sign-in  the passkey: a cookie, as for /web/pair
//	PUT    /web/passkey/prove    a token, the passkey: what agents ask for may be allowed
//	DELETE /web/offer  operator: no page any more, and no browser's token
//
// The page is a client of AHP like all others: it opens a WebSocket at /ahp, which package
// front lets in by the cookie, the key and its Origin. Nothing else goes this way.
//
// It is off until somebody asks for an offer, and off again after DELETE; in between the
// file web.json of the state directory says where the page is listened for, and which
// tokens browsers were given. Tokens are made and ended by AHP, on connections of who
// asked for the offer.
//
// The files are bundled from web/ by its own tool (make build), compressed, and embedded.
// A program without them serves a page that says so.
//
// What anybody may ask is bounded in size, time and number. A Server's methods may be
// called from any goroutine.
package web
