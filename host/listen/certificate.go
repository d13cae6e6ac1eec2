package listen

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tandemux/internal/statefile"
)

const (
	// certLife is that of a self-signed certificate. Clients pin it, so that
	// its end tells them nothing; the fingerprint must not change by itself.
	certLife = 20 * 365 * 24 * time.Hour
	// certCheck is how often, at most, new connections look for a new file.
	certCheck = time.Second
	// maxPEM bounds a certificate's or key's file.
	maxPEM = 1 << 20
)

// Certificate is what a host shows to TLS clients. It is read again, on new
// connections, when its files have changed; while the new ones cannot be used
// the old certificate stays. Its methods may be called from any goroutine.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	stamps  [2]stamp
	checked time.Time
}

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// LoadCertificate reads a PEM certificate chain and its key. log, which may be
// nil, hears of later failures to read them again.
func LoadCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	c.stamps = c.stamp()
	var err error
	if c.pair, err = readPair(certFile, keyFile); err != nil {
		return nil, fmt.Errorf("load the certificate: %w", err)
	}
	return c, nil
}

// SelfSigned loads the certificate of a state directory, making it when there
// is none: tls.crt and tls.key, the latter 0600. One that is there and cannot
// be used is an error, since another one would have another fingerprint.
func SelfSigned(dir string, log *slog.Logger) (*Certificate, error) {
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	_, err1 := os.Lstat(certFile)
	_, err2 := os.Lstat(keyFile)
	if errors.Is(err1, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist) {
		if err := makePair(certFile, keyFile); err != nil {
			return nil, fmt.Errorf("make a self-signed certificate: %w", err)
		}
	}
	c, err := LoadCertificate(certFile, keyFile, log)
	if err != nil {
		return nil, fmt.Errorf("%w: repair it, or move %s and %s away for a new one, whose fingerprint clients must then trust", err, certFile, keyFile)
	}
	return c, nil
}

// readPair refuses a key that others can read, as ssh does.
func readPair(certFile, keyFile string) (*tls.Certificate, error) {
	cert, err := readPEM(certFile)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(keyFile)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("the key %s can be read by everybody on this machine: chmod 600 it", keyFile)
	}
	key, err := readPEM(keyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", certFile, keyFile, err)
	}
	return &pair, nil
}

func readPEM(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPEM {
		return nil, fmt.Errorf("%s is no PEM file", path)
	}
	return os.ReadFile(path)
}

// makePair writes a new key and a certificate of it for this machine's names.
func makePair(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	names := []string{"localhost"}
	if h, err := os.Hostname(); err == nil && h != "" && !slices.Contains(names, h) {
		names = append(names, h)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "tandemux on " + names[len(names)-1]},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              names, IPAddresses: ownAddresses(),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := statefile.Write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err != nil {
		return err
	}
	return statefile.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// ownAddresses are this machine's, loopback first.
func ownAddresses() []net.IP {
	const most = 32
	list := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	addrs, _ := net.InterfaceAddrs() // none is fine: clients pin the fingerprint
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if ok && len(list) < most && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n.IP)
		}
	}
	return list
}

func (c *Certificate) stamp() [2]stamp {
	var s [2]stamp
	for i, path := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// current is the certificate for a new connection.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certCheck {
		c.checked = now
		c.renew()
	}
	return c.pair
}

// renew reads changed files. The caller holds mu.
func (c *Certificate) renew() {
	now := c.stamp()
	if now == c.stamps {
		return
	}
	pair, err := readPair(c.certFile, c.keyFile)
	if err != nil {
		// Perhaps only one of the two is there yet: look again.
		c.log.Warn("the certificate's files have changed and cannot be used; the old one stays", "err", err)
		return
	}
	c.pair, c.stamps = pair, now
	c.log.Info("a new certificate is in use", "fingerprint", fingerprint(pair))
}

// Fingerprint is "sha256:" and the hex digits of the certificate's SHA-256, as
// clients pin it.
func (c *Certificate) Fingerprint() string { return fingerprint(c.current()) }

func fingerprint(pair *tls.Certificate) string {
	sum := sha256.Sum256(pair.Certificate[0])
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isFor reports whether the certificate names a host.
func (c *Certificate) isFor(name string) bool {
	pair := c.current()
	leaf := pair.Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return false
		}
	}
	return leaf.VerifyHostname(name) == nil
}

// Config is the server's part of TLS.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current(), nil
		},
	}
}
