package terminal

import (
	"path"
	"strings"

	"tandemux/internal/fileuri"
)

// localDir makes a file URI without a host of the directory that a shell
// reported with a host's name, "" when it gave none. It is false when that is
// another host, as a shell behind ssh names it (docs/programs.md).
func localDir(dir, host, hostname string) (uri string, ok bool) {
	if host != "" && !strings.EqualFold(host, "localhost") && !sameHost(host, hostname) {
		return "", false
	}
	return fileuri.Of(path.Clean(dir)), true
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
