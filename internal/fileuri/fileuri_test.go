package fileuri

import "testing"

// TestOf: paths come back as they were, and what is no file is left alone.
func TestOf(t *testing.T) {
	t.Parallel()
	for path, uri := range map[string]string{"": "", "/tmp": "file:///tmp", "/a b/ü?#%": "file:///a%20b/%C3%BC%3F%23%25"} {
		if got := Of(path); got != uri {
			t.Errorf("%q is %q, want %q", path, got, uri)
		}
		if got := Path(uri); got != path {
			t.Errorf("%q is %q, want %q", uri, got, path)
		}
	}
	for _, uri := range []string{"/plain", "https://x/y", "%zz"} {
		if got := Path(uri); got != uri {
			t.Errorf("%q becomes %q", uri, got)
		}
	}
}

// TestLocal: only absolute paths on this machine.
func TestLocal(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///tmp": "/tmp", "file:///a%20b/ü": "/a b/ü", "file://localhost/x/": "/x", "file://BOX/x": "/x", "/plain": "/plain",
		"file:///a/../b": "/b",
		"file://other/x": "", "file:x": "", "https:///x": "", "x": "", "file:///a%00b": "", "": "",
	} {
		if got, ok := Local(uri, "box"); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", uri, got, ok)
		}
	}
}
