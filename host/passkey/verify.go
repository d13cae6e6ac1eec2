package passkey

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// Flags of an authenticator's data.
const (
	present  = 1 << 0
	verified = 1 << 2
	attested = 1 << 6
)

// bytes64 are bytes that JSON has as base64url.
type bytes64 []byte

func (b bytes64) MarshalJSON() ([]byte, error) {
	return json.Marshal(base64.RawURLEncoding.EncodeToString(b))
}

func (b *bytes64) UnmarshalJSON(text []byte) error {
	var s string
	err := json.Unmarshal(text, &s)
	if err == nil {
		*b, err = base64.RawURLEncoding.DecodeString(s)
	}
	return err
}

// Response is what a browser brings: of a new passkey, or of one that was used.
type Response struct {
	ID            bytes64 `json:"id"` // the passkey's
	Client        bytes64 `json:"clientData"`
	Authenticator bytes64 `json:"authenticatorData"`
	Public        bytes64 `json:"publicKey"` // of a new one
	Signature     bytes64 `json:"signature"` // of one that was used
	User          bytes64 `json:"userHandle"`
}

// client checks what the browser says that it was asked.
func (r Response) client(kind string, challenge []byte, origin string) error {
	var c struct {
		Type        string  `json:"type"`
		Challenge   bytes64 `json:"challenge"`
		Origin      string  `json:"origin"`
		CrossOrigin bool    `json:"crossOrigin"`
	}
	if err := json.Unmarshal(r.Client, &c); err != nil {
		return errors.New("the browser's data are not JSON")
	}
	switch {
	case c.Type != kind:
		return fmt.Errorf("it is of another kind than %s", kind)
	case subtle.ConstantTimeCompare(c.Challenge, challenge) != 1:
		return errors.New("it answers another question")
	case c.Origin != origin || c.CrossOrigin:
		return errors.New("it was given to another page")
	}
	return nil
}

// authenticator checks what the authenticator says: that it is for the page's host name, and
// that a person was there, and verified. rest is what is behind the counter.
func (r Response) authenticator(rp string) (count uint32, rest []byte, err error) {
	d := r.Authenticator
	if len(d) < 37 {
		return 0, nil, errors.New("the authenticator's data are too short")
	}
	want := sha256.Sum256([]byte(rp))
	switch flags := d[32]; {
	case subtle.ConstantTimeCompare(d[:32], want[:]) != 1:
		return 0, nil, errors.New("it is for another host")
	case flags&present == 0, flags&verified == 0:
		return 0, nil, errors.New("the authenticator has not verified that you are there")
	}
	return binary.BigEndian.Uint32(d[33:37]), d[37:], nil
}

// named checks that a new passkey's data name its id.
func (r Response) named(rest []byte) error {
	const head = 16 + 2 // the model, the length of the id
	if r.Authenticator[32]&attested == 0 || len(rest) < head {
		return errors.New("the authenticator names no passkey")
	}
	n := int(binary.BigEndian.Uint16(rest[16:head]))
	if n == 0 || n > maxID || len(rest) < head+n || subtle.ConstantTimeCompare(rest[head:head+n], r.ID) != 1 {
		return errors.New("the authenticator names another passkey")
	}
	return nil
}

// publicKey reads a public key: of P-256, Ed25519, or RSA with 2048 bits and more.
func publicKey(der []byte) (any, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, errors.New("the public key can't be read")
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case ed25519.PublicKey:
		return k, nil
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n >= 2048 && n <= 4096 {
			return k, nil
		}
	}
	return nil, errors.New("the public key is of a kind that is not taken: P-256, Ed25519 and RSA are")
}

// signed checks the signature, by the key's only algorithm.
func (r Response) signed(der []byte) error {
	key, err := publicKey(der)
	if err != nil {
		return err
	}
	client := sha256.Sum256(r.Client)
	text := append(append([]byte(nil), r.Authenticator...), client[:]...)
	sum := sha256.Sum256(text)
	ok := false
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		ok = ecdsa.VerifyASN1(k, sum[:], r.Signature)
	case ed25519.PublicKey:
		ok = ed25519.Verify(k, text, r.Signature)
	case *rsa.PublicKey:
		ok = rsa.VerifyPKCS1v15(k, sha256Hash, sum[:], r.Signature) == nil
	}
	if !ok {
		return errors.New("the signature is not the passkey's")
	}
	return nil
}
