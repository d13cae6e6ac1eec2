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
// and, for a page of the owner's with all rights alone, to the hosts that the owner has named
// (package hosts), which this host dials as the owner's own interface would:
//
//	GET /hosts/                 a WebSocket that tells their names, and when they change
//	GET /hosts/NAME/ahp         a WebSocket with one's AHP
//	… /hosts/NAME/api/v1/tasks  what the page asks of one's tasks
//
// The page is a client of AHP like all others: it opens a WebSocket at /ahp, which package
// front lets in by the cookie, the key and its Origin. Nothing else goes this way.
//
// Nothing is dialled before a page asks. What is carried is not looked into, but for one
// thing: where a passkey confirms what browsers allow, messages that allow something at
// another host are answered here until one has. A connection that is carried ends with the
// token, with the name, and with either side.
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
