package listen

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCertificateRenewed: new files are used by the next connections; while
// they do not fit each other the old certificate stays.
func TestCertificateRenewed(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	if _, err := SelfSigned(two, nil); err != nil {
		t.Fatal(err)
	}
	cert, err := SelfSigned(one, nil)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := TLS("127.0.0.1:0", cert)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			c.(*tls.Conn).Handshake() //nolint:errcheck // the client's fails as well
			c.Close()
		}
	}()
	defer func() { ln.Close(); <-served }()
	addr := ln.Addr().String()
	shown := func() string {
		c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sum := sha256.Sum256(c.ConnectionState().PeerCertificates[0].Raw)
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	old := cert.Fingerprint()
	if got := shown(); got != old {
		t.Fatalf("shows %s, want %s", got, old)
	}
	put := func(name string) {
		text, err := os.ReadFile(filepath.Join(two, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(one, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("tls.crt") // without its key
	expireCheck(cert)
	if got := shown(); got != old {
		t.Errorf("with a key that does not fit it shows %s", got)
	}
	put("tls.key")
	expireCheck(cert)
	if got := shown(); got == old || got != cert.Fingerprint() {
		t.Errorf("with new files it shows %s still", got)
	}
}

// TestBadCertificates are refused, each with what to do.
func TestBadCertificates(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if _, err := SelfSigned(dir, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCertificate(cert, key, nil); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key for everybody: %v", err)
	}
	os.Chmod(key, 0o600)
	if _, err := LoadCertificate(key, cert, nil); err == nil {
		t.Error("key and certificate were exchanged")
	}
	if _, err := LoadCertificate(cert, filepath.Join(dir, "none"), nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("no key: %v", err)
	}
	if err := os.WriteFile(cert, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SelfSigned(dir, nil); err == nil || !strings.Contains(err.Error(), "move") {
		t.Errorf("a damaged certificate: %v", err)
	}
	if text, _ := os.ReadFile(cert); string(text) != "damaged" {
		t.Error("the damaged certificate was replaced, and with it the fingerprint")
	}
}

// expireCheck makes the next connection look at the certificate's files.
func expireCheck(c *Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked = time.Time{}
}
