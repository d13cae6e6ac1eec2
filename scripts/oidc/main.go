// Command oidc is an OpenID Connect provider for tests and for trying the hub's sign-in: the
// example of zitadel's library on a loopback port, with groups. It is a module of its own, so
// that nothing of it is in tandemux.
//
//	go run . http://127.0.0.1:7080/auth/callback
//
// prints its address. People are test-user@127.0.0.1, of the groups dev and ops, and
// test-user2, of dev; their password is verysecure. The client is web, its secret "secret".
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// groups are those of people by their number.
var groups = map[string][]string{"id1": {"dev", "ops"}, "id2": {"dev"}}

// withGroups tells of groups where userinfo is asked for.
type withGroups struct{ *storage.Storage }

// SetUserinfoFromToken implements op.Storage.
func (s withGroups) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, token, subject, origin string) error {
	if err := s.Storage.SetUserinfoFromToken(ctx, info, token, subject, origin); err != nil {
		return err
	}
	info.AppendClaims("groups", groups[subject])
	return nil
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: oidc CALLBACK-URL…")
		os.Exit(2)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	issuer := "http://" + ln.Addr().String()
	storage.RegisterClients(storage.WebClient("web", "secret", os.Args[1:]...))
	users := storage.NewUserStore("http://127.0.0.1:0/")
	handler := exampleop.SetupServer(issuer, withGroups{storage.NewStorage(users)}, slog.New(slog.DiscardHandler), false)
	fmt.Println(issuer)
	go func() { // ends with who started it
		var b [1]byte
		for {
			if _, err := os.Stdin.Read(b[:]); err != nil {
				os.Exit(0)
			}
		}
	}()
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, srv.Serve(ln))
	os.Exit(1)
}
