package host

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"tandemux/ahp"
)

const (
	// tokenFileVersion is what save writes. Version 1 was a bare list, without
	// expiry and binding; a program that knows only that refuses ours, instead
	// of taking a bound or expired token for a free one.
	tokenFileVersion = 2
	// maxTokenFile is more than maxTokens can take.
	maxTokenFile = 8 << 20
)

type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []token `json:"tokens"`
}

// readTokens reads the file of tokens; none is fine. The error says what to do.
func readTokens(path string) ([]token, error) {
	text, err := readPrivate(path, maxTokenFile)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var list []token
	if err == nil {
		list, err = decodeTokens(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the tokens in %s: %w: no token is valid until the file is repaired or moved away; `tandemux token ls` then reads it again", path, err)
	}
	return list, nil
}

// readPrivate reads a file that is nobody else's to read; one open to others is
// closed to them.
func readPrivate(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > most:
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return nil, fmt.Errorf("close it to others: %w", err)
		}
	}
	return io.ReadAll(io.LimitReader(f, most))
}

func decodeTokens(text []byte) ([]token, error) {
	var file tokenFile
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		if err := json.Unmarshal(text, &file.Tokens); err != nil {
			return nil, err
		}
	} else {
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, err
		}
		if file.Version != tokenFileVersion {
			return nil, fmt.Errorf("it has version %d and this program knows %d", file.Version, tokenFileVersion)
		}
	}
	if len(file.Tokens) > maxTokens {
		return nil, fmt.Errorf("it has more than %d tokens", maxTokens)
	}
	for i, t := range file.Tokens {
		if sum, err := hex.DecodeString(t.Hash); err != nil || len(sum) != 32 || t.ID == "" {
			return nil, fmt.Errorf("token %d of %d has no id or no SHA-256", i+1, len(file.Tokens))
		}
		if t.Expires < 0 || t.Terminal != "" && t.Process == "" {
			return nil, fmt.Errorf("token %s has an expiry or a terminal that makes no sense", clip(t.ID))
		}
		if j := slices.IndexFunc(file.Tokens, func(o token) bool { return o.ID == t.ID }); j != i {
			return nil, fmt.Errorf("two tokens have the id %q", clip(t.ID))
		}
	}
	return file.Tokens, nil
}

// save writes the file, unless it could not be read. The caller holds mu.
func (s *tokenStore) save() error {
	if s.broken != nil {
		return ahp.Internal("%v", s.broken)
	}
	text, err := json.MarshalIndent(tokenFile{tokenFileVersion, s.list}, "", "\t")
	if err == nil {
		err = writeFile(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the tokens to %s: %w", s.path, err)
	}
	s.saved = s.now()
	return nil
}
