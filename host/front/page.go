package front

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// PageHeader and PageQuery carry a page's key: fetch can set a header, WebSocket can't.
const (
	PageHeader = "X-Tandemux-Page"
	PageQuery  = "page"
)

// PageCookie is the name of the cookie that holds a page's token, for the listener that a
// request came to. Browsers give cookies to all ports of a machine, so the port is a part
// of it: hosts beside each other don't take each other's.
func PageCookie(r *http.Request) string {
	name := "tandemux"
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		name += "-" + strconv.Itoa(at.Port)
	}
	if r.TLS != nil {
		return "__Host-" + name
	}
	return name
}

// PageKey is what a page must know besides its cookie. Scripts can't read the cookie, but
// a server on another port of the machine is sent it; the key lies in the storage of the
// page's origin, of which the port is a part.
func PageKey(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("tandemux page"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// pageToken is the token in a request's cookie, if the request has the page's key, and
// empty otherwise.
func pageToken(r *http.Request) string {
	key := r.Header.Get(PageHeader)
	if key == "" {
		key = r.URL.Query().Get(PageQuery)
	}
	if key == "" {
		return ""
	}
	// A browser that is a guest as well has a cookie for each.
	name := PageCookie(r)
	for _, c := range r.Cookies() {
		if (c.Name == name || strings.HasPrefix(c.Name, name+"-")) && hmac.Equal([]byte(key), []byte(PageKey(c.Value))) {
			return c.Value
		}
	}
	return ""
}

// fromPage reports whether a request comes from a page of the listener's own. Browsers
// leave Origin out only of requests that change nothing and open nothing.
func (e *entrance) fromPage(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return r.Method == http.MethodGet && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	}
	return len(origins) == 1 && e.ownOrigin(r, origins[0])
}
