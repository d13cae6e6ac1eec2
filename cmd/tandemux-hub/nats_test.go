package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// natsServer is a NATS of the oldest version that is promised to work, built from the module
// proxy, or the program that TANDEMUX_NATS_SERVER names.
func natsServer(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("TANDEMUX_NATS_SERVER"); path != "" {
		return path
	}
	soak.Only(t, "a NATS server is built")
	path := filepath.Join(t.TempDir(), "nats-server")
	if out, err := exec.Command("../../scripts/nats-server.sh", path).CombinedOutput(); err != nil {
		t.Skipf("no NATS server can be built here, which needs the module proxy: %v: %.500s", err, out)
	}
	return path
}

// account is what an operator of NATS makes for a hub: the server's configuration, the hub's
// credentials, and a key that the account signs with.
type account struct{ config, credentials, key string }

func newAccount(m *hosttest.Machine, listen string) (a account) {
	m.Helper()
	pair := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		k, err := create()
		m.Must(err)
		id, err := k.PublicKey()
		m.Must(err)
		return k, id
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	owner, ownerID := pair(nkeys.CreateAccount)
	signer, signerID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	seed := func(k nkeys.KeyPair) string {
		s, err := k.Seed()
		m.Must(err)
		return string(s)
	}
	encode := func(c jwt.Claims, by nkeys.KeyPair) string {
		text, err := c.Encode(by)
		m.Must(err)
		return text
	}
	oc := jwt.NewOperatorClaims(operatorID)
	oc.SystemAccount = systemID
	ac := jwt.NewAccountClaims(ownerID)
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	ac.SigningKeys.Add(signerID)
	config := fmt.Sprintf("listen: %q\noperator: %s\nsystem_account: %s\njetstream { store_dir: %q }\nresolver: MEMORY\nresolver_preload {\n  %s: %s\n  %[3]s: %[7]s\n}\n",
		listen, encode(oc, operator), systemID, filepath.Join(m.Dir, "js"), ownerID, encode(ac, operator), encode(jwt.NewAccountClaims(systemID), operator))
	credentials, err := jwt.FormatUserConfig(encode(jwt.NewUserClaims(userID), owner), []byte(seed(user)))
	m.Must(err)
	for name, text := range map[*string]string{&a.config: config, &a.credentials: string(credentials), &a.key: seed(signer)} {
		f, err := os.CreateTemp(m.Dir, "nats")
		m.Must(err)
		_, err = f.WriteString(text)
		m.Must(errors.Join(err, f.Close()))
		*name = f.Name()
	}
	return a
}

// TestNATS210: a hub on a NATS server of its own operator's, of the oldest version that is
// promised to work: hosts join and are listed, terminals are reached, tasks are done, and a NATS
// that dies and comes back is found again.
func TestNATS210(t *testing.T) {
	program := natsServer(t)
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	listen := freePorts(t, 1)[0]
	a := newAccount(home, listen)
	serve := func() *process {
		t.Helper()
		p := startCommand(t, exec.Command(program, "-c", a.config), "")
		home.Eventually("NATS listens", func() bool {
			c, err := net.Dial("tcp", listen)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		return p
	}
	nats := serve()
	hub := start(t, home, "", "hub", "serve", "--listen", "127.0.0.1:0", "--nats-url", "nats://"+listen, "--nats-credentials", a.credentials, "--nats-signing-key", a.key)
	home.Eventually("the hub serves", func() bool { return strings.Contains(hub.text(), "hosts join at") })
	_, rest, _ := strings.Cut(hub.text(), "ws://")
	addr := strings.TrimRight(strings.Fields(rest)[0], "/,.;")
	t.Logf("%s", strings.TrimSpace(home.Tandemux("hub", "status")))

	build.Tandemux("new", "--name", "shell", "--background", "--", "sh")
	start(t, build, home.Tandemux("hub", "invite", "build", "--label", "gpu"), "join")
	home.Eventually("the host is listed", func() bool { return len(fleet(home)["build"].Terms) == 1 })
	home.Tandemux("hosts", "add", "build", "ws://"+addr+"/hosts/build/ahp", "--token-file", tokenFile(home, build.Token("fleet")))
	if out := home.Tandemux("run", "--host", "build", "--", "echo", "carried"); strings.TrimSpace(out) != "carried" {
		t.Errorf("a command through the hub says %q", out)
	}
	home.Tandemux("hub", "token", "new", "ci")
	w := newWork(t, home)
	for range 4 {
		w.add("sleep 0.2")
	}
	w.until("tasks are over", func(over int) bool { return over == 4 })

	w.add("sleep 5")
	w.until("the next is at work", func(int) bool { begun, _ := w.ran(4); return begun == 1 })
	nats.Process.Kill() //nolint:errcheck // it runs
	nats.Wait()         //nolint:errcheck // it was killed
	serve()
	w.until("it is over", func(over int) bool { return over == 5 })
	w.check(0)
	home.Eventually("the host is here again", func() bool { return fleet(home)["build"].Present })
	if out := home.Tandemux("hub", "audit"); !strings.Contains(out, "build") {
		t.Errorf("the audit says %q", out)
	}
	if out, err := home.Command("hub", "revoke", "build").CombinedOutput(); err == nil || !strings.Contains(string(out), "nsc revocations") {
		t.Errorf("revoking where the account is not the hub's: %v, %s", err, out)
	}
}
