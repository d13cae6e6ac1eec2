package hosted

import (
	"bytes"
	"strings"

	"tandemux/ahp"
)

// Split returns the host that a resource belongs to, "" for the one that is connected, and the
// resource's address there.
func Split(uri ahp.URI) (host string, there ahp.URI) {
	if root, is := strings.CutPrefix(uri, ahp.RootURI); is && root != "" {
		return root, ahp.RootURI
	}
	scheme, rest, _ := strings.Cut(uri, "://")
	host, path, ok := strings.Cut(rest, "/")
	if !ok || host == "" || !ours([]byte(scheme)) {
		return "", uri
	}
	return host, scheme + ":/" + path
}

// At returns the address here of a host's resource.
func At(host string, there ahp.URI) ahp.URI {
	if host == "" {
		return there
	}
	if there == ahp.RootURI {
		return there + host
	}
	scheme, path, ok := strings.Cut(there, ":/")
	if !ok || !ours([]byte(scheme)) {
		return there
	}
	return scheme + "://" + host + "/" + path
}

// Host returns the host that Split finds.
func Host(uri ahp.URI) string {
	host, _ := Split(uri)
	return host
}

// Names rewrites the messages of one host.
type Names struct {
	Host string
	// Here is this client's id for itself, There the id that the host has for it.
	Here, There string
}

// In appends msg, which came from the host, to dst with addresses as they are here.
func (n Names) In(dst, msg []byte) []byte {
	host := []byte("//" + n.Host)
	return rewrite(dst, msg, func(text []byte) (edit, bool) {
		if n.There != "" && string(text) == n.There {
			return edit{0, len(text), []byte(n.Here)}, true
		}
		i := address(text)
		return edit{i, i, host}, i >= 0
	})
}

// Out appends msg, which goes to the host, to dst with addresses as they are there.
func (n Names) Out(dst, msg []byte) []byte {
	host := []byte("//" + n.Host + "/")
	return rewrite(dst, msg, func(text []byte) (edit, bool) {
		if n.Here != "" && string(text) == n.Here {
			return edit{0, len(text), []byte(n.There)}, true
		}
		i := address(text)
		return edit{i, i + len(host) - 1, nil}, i >= 0 && bytes.HasPrefix(text[i:], host)
	})
}

// edit replaces the bytes from to to of a string with by.
type edit struct {
	from, to int
	by       []byte
}

// general are schemes of addresses that mean the same on all hosts, or are no resource of a host.
var general = map[string]bool{
	"ahp-root": true, "file": true, "http": true, "https": true, "ws": true, "wss": true, "ssh": true, "git": true, "unix": true,
}

// maxScheme bounds a scheme, in bytes.
const maxScheme = 64

// ours reports whether resources of hosts may have the scheme.
func ours(scheme []byte) bool {
	if len(scheme) < 2 || len(scheme) > maxScheme || scheme[0] < 'a' || scheme[0] > 'z' {
		return false
	}
	for _, c := range scheme {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return !general[string(scheme)]
}

// address returns where the path begins in a string that is a resource's address and nothing else, or
// -1 for any other string.
func address(text []byte) int {
	i := bytes.IndexByte(text[:min(len(text), maxScheme+1)], ':')
	if i < 0 || i+1 >= len(text) || text[i+1] != '/' || !ours(text[:i]) {
		return -1
	}
	for _, c := range text[i:] {
		if c <= ' ' || c >= 0x7f || c == '\\' || c == '"' {
			return -1
		}
	}
	return i + 1
}

// verbatim are the members that hold text, in which nothing is changed even if it looks like an
// address.
var verbatim = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`data value text title name command args argv commandLine line before after pattern words
		message description reason label cwd prompt input output content activity preview summary query screen`) {
		verbatim[name] = true
	}
}

// frame is an object or array that encloses the place in a message.
type frame struct {
	object bool
	key    bool // the next string is a member's name
	text   bool // its strings are verbatim
	env    bool // the next value is an environment
	whole  bool // everything in it is verbatim
}

// maxDepth bounds the nesting of messages; what comes after a deeper place stays unchanged.
const maxDepth = 512

// rewrite appends the JSON text msg to dst with the edits that change returns for its strings.
func rewrite(dst, msg []byte, change func(text []byte) (edit, bool)) []byte {
	var buf [32]frame
	stack := append(buf[:0], frame{})
	done := 0 // bytes of msg that are in dst
	for i := 0; i < len(msg); i++ {
		top := &stack[len(stack)-1]
		switch msg[i] {
		case '{', '[':
			if len(stack) == maxDepth {
				return append(dst, msg[done:]...)
			}
			object := msg[i] == '{'
			stack = append(stack, frame{object: object, key: object, text: !object && top.text, whole: top.whole || top.env})
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case ',':
			top.key = top.object
		case '"':
			end := closing(msg, i+1)
			if end < 0 {
				return append(dst, msg[done:]...)
			}
			text := msg[i+1 : end]
			named := top.key
			if named {
				top.key, top.text, top.env = false, verbatim[string(text)], string(text) == "env"
			}
			if !top.whole && (named || !top.text) {
				if e, is := change(text); is {
					dst = append(append(dst, msg[done:i+1+e.from]...), e.by...)
					done = i + 1 + e.to
				}
			}
			i = end
		}
	}
	return append(dst, msg[done:]...)
}

// closing returns the index of the quote that ends the string that begins at i, or -1.
func closing(msg []byte, i int) int {
	for j := i; ; j++ {
		k := bytes.IndexByte(msg[j:], '"')
		if k < 0 {
			return -1
		}
		j += k
		back := j
		for back > i && msg[back-1] == '\\' {
			back--
		}
		if (j-back)%2 == 0 {
			return j
		}
	}
}
