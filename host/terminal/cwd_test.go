package terminal

import "testing"

func TestLocalDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, host, want string }{
		{"/tmp", "", "file:///tmp"},
		{"/tmp", "localhost", "file:///tmp"},
		{"/tmp/", "HERE", "file:///tmp"},
		{"/tmp", "here.example.org", "file:///tmp"},
		{"/", "here", "file:///"},
		{"/a b/世", "here", "file:///a%20b/%E4%B8%96"},
		{"/a%20b", "here", "file:///a%2520b"},
		{"/a\xffb", "here", "file:///a%FFb"},
		{"/a/../b", "here", "file:///b"},
		{"/tmp", "elsewhere", ""},
		{"/tmp", "hereabouts", ""},
	} {
		if got, ok := localDir(tt.dir, tt.host, "here"); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q on %q: %q, %v; want %q", tt.dir, tt.host, got, ok, tt.want)
		}
	}
	if _, ok := localDir("/tmp", "", ""); !ok {
		t.Error("no host name, no directory")
	}
	if _, ok := localDir("/tmp", "x", ""); ok {
		t.Error("another host's directory when this one's name is not known")
	}
}
