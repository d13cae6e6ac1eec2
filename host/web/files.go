package web

import (
	"bytes"
	"cmp"
	"embed"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// dist is what the tool in web/build makes: each file compressed with zstd, its name with
// ".zst" behind.
//
//go:embed all:dist
var dist embed.FS

// policy is the page's: nothing from elsewhere, no script or style in the page itself, and
// no text that becomes markup. WebAssembly is xterm.js' decoder of Sixel pictures.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types tandemux"

// headers are those of every answer. Those of package front forbid to store it.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=()",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// missing is the page of a program that was built without the bundle.
const missing = `<!doctype html><meta charset="utf-8"><title>tandemux</title>
<p>This tandemux was built without its page for browsers.
<p>Build it where the npm registry can be reached: <code>make build</code>, then <code>tandemux upgrade</code>.
`

// Bundled reports whether the program has the page.
func Bundled() bool {
	_, err := dist.Open("dist/index.html.zst")
	return err == nil
}

// file answers a request for one of the page's files.
func file(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(strings.TrimPrefix(r.URL.Path, Prefix), "index.html")
	packed, err := dist.ReadFile(path.Join("dist", name+".zst"))
	switch {
	case err != nil && name == "index.html":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, missing) //nolint:errcheck // who asked is gone
		return
	case err != nil:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", typeOf(name))
	w.Header().Set("Vary", "Accept-Encoding")
	if r.URL.RawQuery != "" && strings.Contains(index(), `"`+name+"?"+r.URL.RawQuery+`"`) {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "zstd") {
		unpack(w, packed)
		return
	}
	w.Header().Set("Content-Encoding", "zstd")
	w.Write(packed) //nolint:errcheck // who asked is gone
}

// index is the page, which names its other files with what they are: those never change.
var index = sync.OnceValue(func() string {
	packed, err := dist.ReadFile("dist/index.html.zst")
	if err != nil {
		return ""
	}
	var b strings.Builder
	unpack(&b, packed)
	return b.String()
})

// unpack answers a browser that reads no zstd.
func unpack(w io.Writer, packed []byte) {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("host/web: what is embedded is no zstd: " + err.Error())
	}
	defer z.Close()
	io.Copy(w, z) //nolint:errcheck // who asked is gone
}

// types are what the machine's table may not have.
var types = map[string]string{
	".webmanifest": "application/manifest+json",
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".svg":         "image/svg+xml",
	".html":        "text/html; charset=utf-8",
}

func typeOf(name string) string {
	if t, ok := types[path.Ext(name)]; ok {
		return t
	}
	return mime.TypeByExtension(path.Ext(name))
}
