package host_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"tandemux/ahp"
)

// TestProfile: the owner gets profiles in pprof's format; nothing else is taken,
// and nobody else gets any.
func TestProfile(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize()
	for kind, unit := range map[string]string{ahp.ProfileHeap: "inuse_space", ahp.ProfileCPU: "nanoseconds"} {
		var got ahp.ProfileResult
		p.must(ahp.MethodProfile, ahp.ProfileParams{Channel: ahp.RootURI, Kind: kind, Seconds: 1}, &got)
		z, err := gzip.NewReader(bytes.NewReader(got.Profile))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		text, err := io.ReadAll(z)
		if err != nil || len(text) < 100 || !bytes.Contains(text, []byte(unit)) {
			t.Errorf("%s: %d bytes, %v", kind, len(text), err)
		}
	}
	for _, bad := range []ahp.ProfileParams{{Kind: "goroutine"}, {Kind: ahp.ProfileCPU, Seconds: 61}, {Kind: ahp.ProfileCPU, Seconds: -1}} {
		if err := p.call(ahp.MethodProfile, bad, nil); ahp.CodeOf(err) != ahp.CodeInvalidParams {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
