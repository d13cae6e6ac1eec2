package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"
)

var validSamples = []string{
	"", " ", "{}", "[]", " [ ] ", `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{,}`, `{1:2}`, `{"a" : [ 1 , 2 ] }`, "[1,]", "[,1]", "[1 2]", "[", "{", "]",
	"0", "-0", "-", "01", "1.", "1.5", ".5", "1e", "1e+", "1E-7", "1e5.", "-1.25e+10", "+1", "1x", "true", "tru", "truex", "false", "null", "nul", "nulll",
	`"`, `"a`, `"a"`, `"\`, `"\"`, `"\""`, `"\q"`, `"\u12"`, `"\u12g4"`, `"\u12aF"`, `"\b\f\n\r\t\/\\"`, "\"\x01\"", "\"\x7f\"", "\"\xff\"", `"日本"`,
	`"` + strings.Repeat("x", 40) + `"`, `"` + strings.Repeat("x", 15) + "\n\"", `"` + strings.Repeat("é", 20) + `\n"`, `{} {}`, "[[[[]]]]", "\ufeff{}",
	`{"jsonrpc":"2.0","id":1,"result":{"snapshot":{"state":{"content":[{"value":"a\r\nb"}]}}}}`,
}

func checkValid(t *testing.T, text string) {
	t.Helper()
	if got, want := valid([]byte(text), depth([]byte(text))), json.Valid([]byte(text)); got != want {
		t.Errorf("valid(%q) = %v, json.Valid says %v", text, got, want)
	}
}

func TestValid(t *testing.T) {
	for _, s := range validSamples {
		checkValid(t, s)
		for i := range len(s) { // cut and damaged at each place
			checkValid(t, s[:i])
			checkValid(t, s[:i]+`"`+s[i:])
			checkValid(t, s[:i]+"\x00"+s[i+1:])
		}
	}
	for _, n := range []int{100, maxRecursion + 1, 9999, 10001} {
		checkValid(t, strings.Repeat("[", n)+strings.Repeat("]", n))
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range validSamples {
		f.Add(s)
	}
	f.Fuzz(checkValid)
}
