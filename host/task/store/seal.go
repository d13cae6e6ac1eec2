package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandemux/internal/statefile"
)

// sealer encrypts values, so that a copy of the database file alone does not reveal them. The key is
// in a file beside the database, with mode 0600.
type sealer struct{ aead cipher.AEAD }

const sealKeySize = 32

// openSealer reads the key, or makes one if there is none and used says that nothing is encrypted.
func openSealer(path string, used func() (bool, error)) (*sealer, error) {
	key, err := statefile.Read(path, sealKeySize+1)
	if err == nil && len(key) != sealKeySize {
		err = fmt.Errorf("it is not a file of %d bytes", sealKeySize)
	}
	if errors.Is(err, os.ErrNotExist) {
		had, err := used()
		if err != nil {
			return nil, err
		}
		if had {
			return nil, fmt.Errorf("the key of the variables' values, %s, is gone: put it back, or move %s away and begin anew", path, filepath.Join(filepath.Dir(path), File))
		}
		if key, err = makeKey(path); err != nil {
			return nil, fmt.Errorf("make the key of the variables' values: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("read the key of the variables' values %s: %w", path, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{aead}, nil
}

// makeKey writes a new key, and syncs it to the disk before it is used.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, sealKeySize)
	rand.Read(key) //nolint:errcheck // never fails
	if err := statefile.Write(path, key); err != nil {
		return nil, err
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		d.Sync() //nolint:errcheck // not all file systems support it
		d.Close()
	}
	return key, nil
}

// seal encrypts v as JSON. The same about is needed for decrypting it.
func (s *sealer) seal(v any, about string) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return s.aead.Seal(nil, nil, text, []byte(about)), nil
}

func (s *sealer) unseal(sealed []byte, about string, v any) error {
	text, err := s.aead.Open(nil, nil, sealed, []byte(about))
	if err != nil {
		return fmt.Errorf("the value of %s can't be read with the key tasks.key: was one of the files put in from elsewhere?", about)
	}
	return json.Unmarshal(text, v)
}
