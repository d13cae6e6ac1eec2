package terminal

import (
	"strings"
	"testing"
)

func TestLocalDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ report, want string }{
		{"file:///tmp", "file:///tmp"},
		{"file://localhost/tmp", "file:///tmp"},
		{"file://HERE/tmp/", "file:///tmp"},
		{"file://here.example.org/tmp", "file:///tmp"},
		{"file://here/", "file:///"},
		{"file://here/a%20b/%E4%B8%96", "file:///a%20b/%E4%B8%96"},
		{"file://here/a b/世", "file:///a%20b/%E4%B8%96"},
		{"file://here/a/../b", "file:///b"},
		{"kitty-shell-cwd://here/a%20b", "file:///a%2520b"},
		{"file://elsewhere/tmp", ""},
		{"file://hereabouts/tmp", ""},
		{"file://tmp", ""},
		{"file:/tmp", ""},
		{"/tmp", ""},
		{"http://here/tmp", ""},
		{"file://here/%zz", ""},
		{"file://here/a%0ab", ""},
		{"file://here/" + strings.Repeat("x", maxDir), ""},
		{"", ""},
	} {
		if got, ok := localDir(tt.report, "here"); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: %q, %v; want %q", tt.report, got, ok, tt.want)
		}
	}
	if _, ok := localDir("file:///tmp", ""); !ok {
		t.Error("no host name, no directory")
	}
	if _, ok := localDir("file://x/tmp", ""); ok {
		t.Error("another host's directory when this one's name is not known")
	}
}
