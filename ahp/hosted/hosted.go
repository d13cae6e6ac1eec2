package hosted

import (
	"bytes"
	"strings"

	"tandemux/ahp"
)

// Split gives the host that a resource is of, "" for the one that is asked, and its
// address there.
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

// At is the address here of a host's resource.
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

// Host is the host of Split.
func Host(uri ahp.URI) string {
	host, _ := Split(uri)
	return host
}

// Names are those of one host.
type Names struct {
	Host string
	// Here is this client's id for itself, There the one that the host knows.
	Here, There string
}

// In appends a message of the host's to dst, said in our words.
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

// Out appends a message to the host to dst, said in its words.
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

// edit puts something into the place of a part of a string.
type edit struct {
	from, to int
	by       []byte
}

// general are schemes of addresses that mean the same on all hosts, or no resource.
var general = map[string]bool{
	"ahp-root": true, "file": true, "http": true, "https": true, "ws": true, "wss": true, "ssh": true, "git": true, "unix": true,
}

// maxScheme bounds a scheme.
const maxScheme = 64

// ours reports whether a scheme may be a resource's.
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

// address gives where the path of a resource begins in a string that is its address
// and nothing else; -1 for others.
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

// verbatim are the members that hold a text, and what addresses in it may look like is
// nobody's business.
var verbatim = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`data value text title name command args argv commandLine line before after pattern words
		message description reason label cwd prompt input output content activity preview summary query screen`) {
		verbatim[name] = true
	}
}

// frame is an object or array that a message is inside of.
type frame struct {
	object bool
	key    bool // the next string is a member's name
	text   bool // strings of it are verbatim
	env    bool // the next value is an environment
	whole  bool // all of it is verbatim
}

// maxDepth bounds how deeply what is looked at is nested; what is deeper stays.
const maxDepth = 512

// rewrite appends a JSON text to dst with the strings changed that change says how to.
func rewrite(dst, msg []byte, change func(text []byte) (edit, bool)) []byte {
	var buf [32]frame
	stack := append(buf[:0], frame{})
	done := 0 // of msg, in dst
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

// closing finds the quote that ends a string which begins at i; -1 for none.
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
