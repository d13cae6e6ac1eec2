package hosted

import (
	"bytes"
	"encoding/json"
	"testing"

	"tandemux/ahp"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ uri, host, there ahp.URI }{
		{"ahp-terminal://build/abc", "build", "ahp-terminal:/abc"},
		{"ahp-terminal:/abc", "", "ahp-terminal:/abc"},
		{"x-tandemux-activity://build/", "build", "x-tandemux-activity:/"},
		{"ahp-root://", "", "ahp-root://"},
		{"ahp-root://build", "build", "ahp-root://"},
		{"ahp-terminal://build//gpu/abc", "build", "ahp-terminal://gpu/abc"},
		{"file:///etc/passwd", "", "file:///etc/passwd"},
		{"https://build/x", "", "https://build/x"},
		{"claude://build/1", "build", "claude:/1"},
		{"abc", "", "abc"},
		{"", "", ""},
		{"x://", "", "x://"},
		{"ab://c", "", "ab://c"},
	} {
		host, there := Split(c.uri)
		if host != c.host || there != c.there {
			t.Errorf("Split(%q) = %q, %q, not %q, %q", c.uri, host, there, c.host, c.there)
		}
		if back := At(host, there); back != c.uri {
			t.Errorf("At(%q, %q) = %q, not %q", host, there, back, c.uri)
		}
	}
}

var build = Names{Host: "build", Here: "tandemux-tui-here", There: "tandemux-tui-there"}

func TestIn(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"channel", `{"channel":"ahp-terminal:/a","n":1}`, `{"channel":"ahp-terminal://build/a","n":1}`},
		{"output that looks like one", `{"channel":"ahp-terminal:/a","action":{"data":"ahp-terminal:/a"}}`, `{"channel":"ahp-terminal://build/a","action":{"data":"ahp-terminal:/a"}}`},
		{"in a text", `{"text":"ahp-chat:/a","x":"see ahp-chat:/a"}`, `{"text":"ahp-chat:/a","x":"see ahp-chat:/a"}`},
		{"command", `{"command":["ahp-chat:/a"],"terminals":["ahp-chat:/a"]}`, `{"command":["ahp-chat:/a"],"terminals":["ahp-chat://build/a"]}`},
		{"environment", `{"env":{"A":"ahp-chat:/a","B":{"c":"ahp-chat:/a"}},"r":"ahp-chat:/a"}`, `{"env":{"A":"ahp-chat:/a","B":{"c":"ahp-chat:/a"}},"r":"ahp-chat://build/a"}`},
		{"parts of a content", `{"content":[{"type":"x","value":"ahp-chat:/a","resource":"ahp-chat:/a"}]}`, `{"content":[{"type":"x","value":"ahp-chat:/a","resource":"ahp-chat://build/a"}]}`},
		{"member names", `{"ahp-terminal:/a":{"at":1}}`, `{"ahp-terminal://build/a":{"at":1}}`},
		{"general schemes", `["file:/x","file:///x","http://x/y","ahp-root://"]`, `["file:/x","file:///x","http://x/y","ahp-root://"]`},
		{"of a third host", `["ahp-terminal://gpu/x"]`, `["ahp-terminal://build//gpu/x"]`},
		{"client id", `{"clientId":"tandemux-tui-there","title":"tandemux-tui-there"}`, `{"clientId":"tandemux-tui-here","title":"tandemux-tui-there"}`},
		{"quotes", `{"data":"a\"channel\":\"ahp-chat:/a\\","r":"ahp-chat:/a"}`, `{"data":"a\"channel\":\"ahp-chat:/a\\","r":"ahp-chat://build/a"}`},
		{"other schemes", `{"resource":"copilot-cli:/s1"}`, `{"resource":"copilot-cli://build/s1"}`},
		{"no JSON", "\x00ping 7", "\x00ping 7"},
	} {
		got := string(build.In(nil, []byte(c.in)))
		if got != c.want {
			t.Errorf("%s: %s\n became %s\n not    %s", c.name, c.in, got, c.want)
		}
		if back := string(build.Out(nil, []byte(got))); back != c.in {
			t.Errorf("%s: going out gives %s\n not %s", c.name, back, c.in)
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
