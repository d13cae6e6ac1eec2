// Package front is where the host is reached: it accepts connections, authenticates
// HTTP requests before anything is upgraded, and makes AHP connections of them, which it
// hands to Config.Handle with the principal that they belong to.
//
// On a unix socket the principal is the operator, by peer credentials; on TCP it is a
// token's, and Host and Origin headers are checked. Other protocols have doors
// (Door): requests for their paths are authenticated in the same way, and a door
// reaches the host by an AHP connection of the caller's (Caller.Dial).
//
// A Front owns the listeners, the numbers of connections and of requests to doors, and
// the count of failed attempts. It knows nothing of terminals and channels. Its methods
// may be called from any goroutine; none is called back with its lock held.
package front
