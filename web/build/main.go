// Command build bundles the page for browsers: it fetches the npm packages that lock.json
// names, checks them against its SHA-512, bundles web/src with them by esbuild, and writes
// the files, compressed, to a folder that host/web embeds. It needs no Node.
//
//	go run . [-out DIR]
//
// Packages come from the registry that npm would ask (NPM_CONFIG_REGISTRY, .npmrc) and are
// kept in the user's cache directory. A registry that can't be reached is an error.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/klauspost/compress/zstd"
)

// most is how large all files may be together, compressed.
const most = 300 << 10

func main() {
	out := flag.String("out", "../../host/web/dist", "the folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "web/build:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	packages, err := readLock("lock.json")
	if err != nil {
		return err
	}
	modules, err := os.MkdirTemp("", "tandemux-web")
	if err != nil {
		return err
	}
	defer os.RemoveAll(modules)
	licenses, err := install(packages, modules)
	if err != nil {
		return err
	}
	files, err := bundle("../src", modules)
	if err != nil {
		return err
	}
	files["licenses.txt"] = licenses
	return writeAll(out, files)
}

// bundle gives the page's files by name.
func bundle(src, modules string) (map[string][]byte, error) {
	files := map[string][]byte{}
	abs, err := filepath.Abs(src)
	if err != nil {
		return nil, err
	}
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(abs, "app.tsx"), filepath.Join(abs, "dial.ts"), filepath.Join(abs, "sw.ts"), filepath.Join(abs, "app.css")},
		NodePaths:   []string{modules},
		Outdir:      "/", AbsWorkingDir: abs,
		Bundle: true, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Format: api.FormatIIFE, Target: api.ES2022, Platform: api.PlatformBrowser, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		LegalComments: api.LegalCommentsNone, // they are in licenses.txt, whole
		LogLevel:      api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(r.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	for _, f := range r.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range []string{"index.html", "app.webmanifest", "icon.svg"} {
		text, err := os.ReadFile(filepath.Join(abs, name))
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, stamp(files)
}

// stamp has the page name its files with what they are, so that a browser keeps them and
// asks for others when they change.
func stamp(files map[string][]byte) error {
	for _, name := range []string{"app.js", "dial.js", "app.css"} {
		sum := sha256.Sum256(files[name])
		stamped := bytes.Replace(files["index.html"], []byte(`"`+name+`"`), fmt.Appendf(nil, `"%s?%x"`, name, sum[:6]), 1)
		if bytes.Equal(stamped, files["index.html"]) {
			return fmt.Errorf("index.html does not name %s", name)
		}
		files["index.html"] = stamped
	}
	return nil
}

// writeAll compresses the files into a folder, and removes what is there of others.
func writeAll(out string, files map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(out, "*.zst"))
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	total := 0
	packed := map[string][]byte{}
	for name, text := range files {
		packed[name+".zst"] = z.EncodeAll(text, nil)
		total += len(packed[name+".zst"])
	}
	if total > most {
		return fmt.Errorf("the page has %d bytes, compressed; it may have %d", total, most)
	}
	for _, path := range old {
		if packed[filepath.Base(path)] == nil {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for name, text := range packed {
		path := filepath.Join(out, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(packed))
	for name, text := range packed {
		names = append(names, fmt.Sprintf("%s %d", strings.TrimSuffix(name, ".zst"), len(text)))
	}
	slices.Sort(names)
	fmt.Printf("the page has %d bytes, compressed: %s\n", total, strings.Join(names, ", "))
	return nil
}
