package auth

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"tandemux/ahp"
	"tandemux/internal/statefile"
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
	Tokens  []Token `json:"tokens"`
}

// readTokens reads the file of tokens; none is fine. The error says what to do.
func readTokens(path string) ([]Token, error) {
	text, err := statefile.Read(path, maxTokenFile)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var list []Token
	if err == nil {
		list, err = decodeTokens(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the tokens in %s: %w: no token is valid until the file is repaired or moved away; `tandemux token ls` then reads it again", path, err)
	}
	return list, nil
}

func decodeTokens(text []byte) ([]Token, error) {
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
			return nil, fmt.Errorf("token %s has an expiry or a terminal that makes no sense", shown(t.ID))
		}
		if j := slices.IndexFunc(file.Tokens, func(o Token) bool { return o.ID == t.ID }); j != i {
			return nil, fmt.Errorf("two tokens have the id %q", shown(t.ID))
		}
	}
	return file.Tokens, nil
}

// save writes the file, unless it could not be read. The caller holds mu.
func (s *Tokens) save() error {
	if s.broken != nil {
		return ahp.Internal("%v", s.broken)
	}
	text, err := json.MarshalIndent(tokenFile{tokenFileVersion, s.list}, "", "\t")
	if err == nil {
		err = statefile.Write(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the tokens to %s: %w", s.path, err)
	}
	s.saved = s.now()
	return nil
}
