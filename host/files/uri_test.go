package files

import "testing"

// TestPath: only absolute paths on this machine.
func TestPath(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///tmp": "/tmp", "file:///a%20b/ü": "/a b/ü", "file://localhost/x/": "/x", "file://BOX/x": "/x", "/plain": "/plain",
		"file:///a/../b": "/b",
		"file://other/x": "", "file:x": "", "https:///x": "", "x": "", "file:///a%00b": "", "": "",
	} {
		if got, ok := Path(uri, "box"); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", uri, got, ok)
		}
	}
}
