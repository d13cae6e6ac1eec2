package wsrpc

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// FingerprintError says that a host shows another certificate than the pinned
// one.
type FingerprintError struct {
	Want, Got string
}

// Error names both fingerprints.
func (e *FingerprintError) Error() string {
	return fmt.Sprintf("the host's certificate is %s and not %s, which is trusted", e.Got, e.Want)
}

// UntrustedError says that a host's certificate is vouched for by nobody whom
// this machine trusts, as when it is self-signed.
type UntrustedError struct {
	Fingerprint string // what to pin, once it is known to be right
	Err         error
}

// Error gives the reason.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("the host's certificate %s is not trusted: %v", e.Fingerprint, e.Err)
}

// Unwrap gives the reason alone.
func (e *UntrustedError) Unwrap() error { return e.Err }

// CheckFingerprint gives the form of a fingerprint that Target takes:
// "sha256:" and 64 lower-case hex digits. It accepts colons between them.
func CheckFingerprint(s string) (string, error) {
	name, digits, _ := strings.Cut(strings.ToLower(s), ":")
	digits = strings.ReplaceAll(digits, ":", "")
	if sum, err := hex.DecodeString(digits); name != "sha256" || err != nil || len(sum) != sha256.Size {
		return "", errors.New(`a fingerprint is "sha256:" and 64 hex digits`)
	}
	return name + ":" + digits, nil
}

// clientTLS verifies the host's certificate: only by the pinned fingerprint, if there
// is one, whatever its name and dates; otherwise as browsers do.
func clientTLS(name, pinned string) *tls.Config {
	return &tls.Config{
		ServerName: name,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		// VerifyConnection does it, so that its error can name what to pin.
		InsecureSkipVerify: true, //nolint:gosec // see above
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the host showed no certificate")
			}
			leaf := s.PeerCertificates[0]
			sum := sha256.Sum256(leaf.Raw)
			got := "sha256:" + hex.EncodeToString(sum[:])
			if pinned != "" {
				if got != pinned {
					return &FingerprintError{Want: pinned, Got: got}
				}
				return nil
			}
			between := x509.NewCertPool()
			for _, c := range s.PeerCertificates[1:] {
				between.AddCert(c)
			}
			if _, err := leaf.Verify(x509.VerifyOptions{DNSName: s.ServerName, Intermediates: between}); err != nil {
				return &UntrustedError{Fingerprint: got, Err: err}
			}
			return nil
		},
	}
}

// ClientTLS is how a host's certificate is checked, for other clients of its
// listener: by a fingerprint, or, pinned being empty, as browsers do.
func ClientTLS(name, pinned string) *tls.Config { return clientTLS(name, pinned) }
