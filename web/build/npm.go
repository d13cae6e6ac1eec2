package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// locked is a row of lock.json.
type locked struct {
	Name, Version, Integrity string
}

// Bounds of a package.
const (
	maxTarball = 32 << 20
	maxFiles   = 64 << 20 // unpacked
)

// name is npm's form of names, which become paths.
var name = regexp.MustCompile(`^(@[a-z0-9-]+/)?[a-z0-9][a-z0-9.-]*$`)

func readLock(path string) ([]locked, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []locked
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for _, p := range all {
		if !name.MatchString(p.Name) || !strings.HasPrefix(p.Integrity, "sha512-") {
			return nil, fmt.Errorf("read %s: %q has no name, or no integrity of sha512", path, p.Name)
		}
	}
	return all, nil
}

// install unpacks packages below a folder, as Node finds them, and gives their licenses.
func install(packages []locked, into string) (licenses []byte, err error) {
	var texts bytes.Buffer
	for _, p := range packages {
		tarball, err := fetch(p)
		if err != nil {
			return nil, fmt.Errorf("fetch %s %s: %w", p.Name, p.Version, err)
		}
		license, err := unpack(tarball, filepath.Join(into, filepath.FromSlash(p.Name)))
		if err != nil {
			return nil, fmt.Errorf("unpack %s %s: %w", p.Name, p.Version, err)
		}
		if len(license) == 0 {
			return nil, fmt.Errorf("%s %s has no license", p.Name, p.Version)
		}
		fmt.Fprintf(&texts, "%s %s\n\n%s\n\n", p.Name, p.Version, bytes.TrimSpace(license))
	}
	return texts.Bytes(), nil
}

// fetch gives a package's tarball, from the cache or the registry. What lock.json does not
// promise is an error, wherever it lies.
func fetch(p locked) ([]byte, error) {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-"))
	if err != nil || len(sum) != sha512.Size {
		return nil, errors.New("its integrity is no SHA-512")
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	kept := filepath.Join(dir, "tandemux", "npm", hex.EncodeToString(sum)+".tgz")
	if had, err := os.ReadFile(kept); err == nil && fits(had, sum) {
		return had, nil
	}
	registry, err := registryOf(p.Name)
	if err != nil {
		return nil, err
	}
	at := strings.TrimSuffix(registry, "/") + "/" + p.Name + "/-/" + path.Base(p.Name) + "-" + p.Version + ".tgz"
	resp, err := (&http.Client{Timeout: time.Minute}).Get(at)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", at, resp.Status)
	}
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxTarball))
	if err != nil {
		return nil, err
	}
	if !fits(got, sum) {
		return nil, fmt.Errorf("what %s gives is not what lock.json promises", at)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err == nil {
		os.WriteFile(kept, got, 0o600) // it is fetched again otherwise
	}
	return got, nil
}

func fits(b, sum []byte) bool {
	is := sha512.Sum512(b)
	return bytes.Equal(is[:], sum)
}

// registryOf is where npm gets a package from: the variable, the scope's, the user's, npm's.
func registryOf(pkg string) (string, error) {
	for _, v := range []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"} {
		if at := os.Getenv(v); at != "" {
			return at, nil
		}
	}
	settings := map[string]string{}
	home, err := os.UserHomeDir()
	if err == nil {
		f, err := os.Open(filepath.Join(home, ".npmrc"))
		if err == nil {
			defer f.Close()
			lines := bufio.NewScanner(f)
			for lines.Scan() {
				k, v, _ := strings.Cut(lines.Text(), "=")
				settings[strings.TrimSpace(k)] = strings.Trim(strings.TrimSpace(v), `"`)
			}
		}
	}
	scope, _, _ := strings.Cut(pkg, "/")
	for _, key := range []string{scope + ":registry", "registry"} {
		if at := settings[key]; at != "" {
			return at, nil
		}
	}
	return "https://registry.npmjs.org", nil
}

// unpack writes a tarball's files below a folder, without its first folder, and gives the
// license among them. Only plain files are written, none outside of the folder.
func unpack(tarball []byte, into string) (license []byte, err error) {
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return license, nil
		}
		if err != nil {
			return nil, err
		}
		_, rel, _ := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || rel == "" {
			continue
		}
		if !filepath.IsLocal(rel) {
			return nil, fmt.Errorf("it has a file outside of itself: %q", h.Name)
		}
		if total += h.Size; total > maxFiles {
			return nil, fmt.Errorf("it has more than %d bytes", maxFiles)
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(strings.ToUpper(rel), "LICENSE") || strings.HasPrefix(strings.ToUpper(rel), "LICENCE") {
			license = text
		}
		at := filepath.Join(into, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return nil, err
		}
	}
}
