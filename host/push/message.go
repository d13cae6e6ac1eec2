package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
)

// recordBytes is the size of the one record that a message has.
const recordBytes = 4096

// encrypt encrypts a message for a page (RFC 8291); own is a key for this message alone.
func encrypt(text, page, auth, salt []byte, own *ecdh.PrivateKey) ([]byte, error) {
	to, err := ecdh.P256().NewPublicKey(page)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(to)
	if err != nil {
		return nil, err
	}
	from := own.PublicKey().Bytes()
	secret, err := hkdf.Key(sha256.New, shared, auth, "WebPush: info\x00"+string(page)+string(from), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	b := binary.BigEndian.AppendUint32(append([]byte(nil), salt...), recordBytes)
	b = append(append(b, byte(len(from))), from...)
	return seal.Seal(b, nonce, append(append([]byte(nil), text...), 2), nil), nil // 2: the last record
}

// messageFor is a message for a subscription, with a key and a salt of its own.
func messageFor(s Subscription, text []byte) ([]byte, error) {
	page, auth, err := s.keys()
	if err != nil {
		return nil, err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, 16)
	rand.Read(salt) //nolint:errcheck // never fails
	return encrypt(text, page, auth, salt, own)
}

// keys are the page's: a point of P-256, and 16 bytes.
func (s Subscription) keys() (page, auth []byte, err error) {
	if page, err = base64.RawURLEncoding.DecodeString(s.Page); err == nil {
		_, err = ecdh.P256().NewPublicKey(page)
	}
	if err == nil {
		auth, err = base64.RawURLEncoding.DecodeString(s.Auth)
	}
	if err == nil && len(auth) != 16 {
		err = fmt.Errorf("auth has %d bytes, not 16", len(auth))
	}
	return page, auth, err
}

// nobody is whom push services are told to write to about this host where its owner names
// nobody: some want an address.
const nobody = "mailto:tandemux@example.com"

// tokenTime is how long a service may take a request for the host's.
const tokenTime = time.Hour

// authorization says that a request to a service is the host's (RFC 8292).
func authorization(key *ecdsa.PrivateKey, origin, contact string, now time.Time) (string, error) {
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"aud": origin, "exp": now.Add(tokenTime).Unix(), "sub": contact})
	if err != nil {
		return "", err
	}
	b64 := base64.RawURLEncoding.EncodeToString
	signed := b64([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + b64(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + signed + "." + b64(signature[:]) + ", k=" + b64(public), nil
}
