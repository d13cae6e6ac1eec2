// Package join makes a host one of a fleet: it is the process beside the host that dials
// out to the hub's NATS with a credential, says what the host is (hub/directory), and
// carries connections to it (hub/carry).
//
// To the host it is a client of its unix socket. It does not live in the host, which
// therefore links nothing of NATS, and no terminal notices when the hub, the network or this
// process dies. Both ways are tried again for ever: that to the hub by NATS's client, that
// to the host by internal/client. While the host does not answer it is away in the
// directory, though this process runs.
//
// Run owns both connections and all goroutines, which end with it. Further work with them,
// such as taking tasks, is a Work.
package join
