package terminal

import (
	"net/url"
	"path"
	"strings"
)

// maxDir bounds a reported directory in bytes.
const maxDir = 4096

// localDir makes a file URI without a host of what OSC 7 reported: a file URI,
// percent-encoded, or kitty's own, which is not (shell-integration.md §1). It
// is false when the URI names another host, as a shell behind ssh does, or no
// absolute directory.
func localDir(report, hostname string) (uri string, ok bool) {
	rest, file := strings.CutPrefix(report, "file://")
	if !file {
		if rest, ok = strings.CutPrefix(report, "kitty-shell-cwd://"); !ok {
			return "", false
		}
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 || len(rest) > 3*maxDir {
		return "", false
	}
	host, dir := rest[:slash], rest[slash:]
	if host != "" && !strings.EqualFold(host, "localhost") && !sameHost(host, hostname) {
		return "", false
	}
	if file {
		var err error
		if dir, err = url.PathUnescape(dir); err != nil {
			return "", false
		}
	}
	if len(dir) > maxDir || strings.IndexFunc(dir, func(r rune) bool { return r < 0x20 || r == 0x7f }) >= 0 {
		return "", false
	}
	return (&url.URL{Scheme: "file", Path: path.Clean(dir)}).String(), true
}

// sameHost compares host names; one may have its domain and the other not.
func sameHost(a, b string) bool {
	if b == "" {
		return false
	}
	if strings.EqualFold(a, b) {
		return true
	}
	short := func(s string) string { s, _, _ = strings.Cut(s, "."); return s }
	bare := !strings.Contains(a, ".") || !strings.Contains(b, ".")
	return bare && strings.EqualFold(short(a), short(b))
}
