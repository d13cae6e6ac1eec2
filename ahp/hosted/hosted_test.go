package hosted

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"tandemux/ahp"
)

// cases are what the page for browsers passes, too (web/build).
func cases(t *testing.T) (c struct {
	Split []struct{ URI, Host, There ahp.URI }
	In    []struct{ Name, Msg, Want string }
},
) {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.json")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil || len(c.Split) == 0 || len(c.In) == 0 {
		t.Fatalf("the cases: %v", err)
	}
	return c
}

func TestSplit(t *testing.T) {
	for _, c := range cases(t).Split {
		host, there := Split(c.URI)
		if host != c.Host || there != c.There {
			t.Errorf("Split(%q) = %q, %q, not %q, %q", c.URI, host, there, c.Host, c.There)
		}
		if back := At(host, there); back != c.URI {
			t.Errorf("At(%q, %q) = %q, not %q", host, there, back, c.URI)
		}
	}
}

var build = Names{Host: "build", Here: "tandemux-tui-here", There: "tandemux-tui-there"}

func TestIn(t *testing.T) {
	for _, c := range cases(t).In {
		got := string(build.In(nil, []byte(c.Msg)))
		if got != c.Want {
			t.Errorf("%s: %s\n became %s\n not    %s", c.Name, c.Msg, got, c.Want)
		}
		if back := string(build.Out(nil, []byte(got))); back != c.Msg {
			t.Errorf("%s: going out gives %s\n not %s", c.Name, back, c.Msg)
		}
	}
}

// FuzzNames: going out undoes coming in, whatever the host says, and what was JSON stays so.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		`{"channel":"ahp-terminal:/a","action":{"type":"terminal/data","data":"ahp-terminal:/a"},"serverSeq":7}`,
		`{"env":{"a":"x-y:/z"},"e":["ahp-chat://b//c",[{"a":"q:/"}]],"":"ahp-root://"}`,
		`{"data":"\\\"","r":"ahp-chat:/a"}`, `["`, `{{{"a":"b:/c"`, `]]},,"ab:/c"`, "tandemux-tui-there", `"tandemux-tui-there"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if bytes.Contains(msg, []byte(build.Here)) || bytes.Contains(msg, []byte("//build")) {
			t.Skip() // a host does not know our names
		}
		in := build.In(nil, msg)
		if out := build.Out(nil, in); !bytes.Equal(out, msg) {
			t.Fatalf("%q came in as %q and goes out as %q", msg, in, out)
		}
		if json.Valid(msg) && !json.Valid(in) {
			t.Fatalf("%q came in as %q, which is no JSON", msg, in)
		}
	})
}

// BenchmarkIn: what the lines of a flood cost more for being another host's.
func BenchmarkIn(b *testing.B) {
	msg := []byte(`{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-terminal:/a","action":{"type":"terminal/data","data":"` +
		string(bytes.Repeat([]byte(`the quick brown fox jumps over the lazy dog\r\n`), 700)) + `"},"serverSeq":7}}`)
	b.SetBytes(int64(len(msg)))
	var buf []byte
	for b.Loop() {
		buf = build.In(buf[:0], msg)
	}
}
