package wire

import (
	"strings"
	"testing"
)

// What is read of output that is not quoted is what is read of the same as JSON.
func FuzzUnquoted(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mred\x1b[m \"quoted\\\" é世🙂\r\n\x00", "bad \xff\xfe utf-8 \xe4\xb8", "\u2028\x7f\x80", "\x00out 1 1 x"} {
		f.Add("ahp-terminal:/x", s, int64(1)<<50)
		f.Add(s, "", int64(0))
	}
	f.Fuzz(func(t *testing.T, channel, data string, seq int64) {
		ReadUnquoted([]byte(data)) // It panics on nothing.
		seq = max(seq, -seq, 0) % 1e18
		plain := strings.Trim(strings.ToValidUTF8(channel, ""), "\"\\")
		for i := range plain { // of which ReadDataEnvelope knows those alone
			if plain[i] < 0x20 || plain[i] > 0x7e || plain[i] == '"' || plain[i] == '\\' {
				plain = "ahp-terminal:/other"
				break
			}
		}
		uri, text, n, _, ok := ReadDataEnvelope(AppendDataEnvelope(nil, plain, data, seq), nil)
		if !ok {
			t.Fatalf("as JSON: %q", data)
		}
		uri2, text2, n2, ok := ReadUnquoted(AppendUnquoted(nil, plain, data, seq))
		if !ok || string(uri) != string(uri2) || string(text) != string(text2) || n != n2 {
			t.Fatalf("%q %q %d became %q %q %d", uri, text, n, uri2, text2, n2)
		}
	})
}

func TestUnquotedRefuses(t *testing.T) {
	for _, s := range []string{"", "\x00out ", "\x00out 1", "\x00out 1 2 x", "\x00out -1 1 x", "\x00out 1 -1 x", "\x00out 01 1 x", "out 1 1 x", "\x00ping 1", "\x00out 1 99999999999999999999 x"} {
		if _, _, _, ok := ReadUnquoted([]byte(s)); ok {
			t.Errorf("%q was taken", s)
		}
	}
}
