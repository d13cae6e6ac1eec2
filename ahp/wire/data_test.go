package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"tandemux/ahp"
)

var dataSamples = []string{
	"", "plain", "two\r\nlines", "\x1b[31mred\x1b[0m", `quote " and \ slash`, "\x00\x01\x1f\x7f",
	"\b\f\n\r\t/", "é日本語😀", "\u2028\u2029", "<&>", "\ufffd", "\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x98",
	"mixed \xfe 日 \x1b]0;t\a\"", strings.Repeat("x", 7) + "\"", strings.Repeat("x", 8) + "\\", strings.Repeat("é", 9) + "\n",
}

// notification is the general encoder's form of what AppendDataEnvelope writes.
func notification(t testing.TB, e ahp.Envelope) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  struct {
			Channel string `json:"channel"`
			Action  struct {
				Type string `json:"type"`
				Data string `json:"data"`
			} `json:"action"`
			ServerSeq int64 `json:"serverSeq"`
		} `json:"params"`
	}{
		JSONRPC: "2.0", Method: ahp.MethodAction,
		Params: struct {
			Channel string `json:"channel"`
			Action  struct {
				Type string `json:"type"`
				Data string `json:"data"`
			} `json:"action"`
			ServerSeq int64 `json:"serverSeq"`
		}{e.Channel, struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{e.Action.ActionType(), e.Action.(ahp.TerminalData).Data}, e.ServerSeq},
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// checkData holds the fast ways to the general one for one envelope.
func checkData(t *testing.T, channel, data string, seq int64) {
	t.Helper()
	e := ahp.Envelope{Channel: channel, Action: ahp.TerminalData{Data: data}, ServerSeq: seq}
	want := notification(t, e)
	got := AppendDataEnvelope([]byte("kept"), channel, data, seq)
	if string(got) != "kept"+string(want) {
		t.Fatalf("AppendDataEnvelope\n got %s\nwant kept%s", got, want)
	}
	var general struct{ Params ahp.Envelope }
	if err := json.Unmarshal(want, &general); err != nil {
		t.Fatal(err)
	}
	ch, text, s, ok := read(want)
	if !ok {
		if seq >= 0 && seq < 1e18 && plain(channel, 0, false) == len(channel) {
			t.Fatalf("ReadDataEnvelope does not know %s", want)
		}
		return
	}
	if g := general.Params; string(ch) != g.Channel || text != g.Action.(ahp.TerminalData).Data || s != g.ServerSeq {
		t.Fatalf("ReadDataEnvelope(%s) = %q, %q, %d; the general decoder says %#v", want, ch, text, s, g)
	}
}

func TestDataEnvelope(t *testing.T) {
	for _, s := range dataSamples {
		for pad := range 9 {
			checkData(t, "ahp-terminal:/1", strings.Repeat("a", pad)+s, 1<<53-1)
			checkData(t, "ahp-terminal:/1", s+strings.Repeat("é", pad), 0)
		}
	}
	checkData(t, `odd "channel" é`, "x", 1)
	checkData(t, "", "x", -1)
	for c := range 256 {
		checkData(t, "c", "ab"+string([]byte{byte(c)})+"cdefghijk", 1)
	}
}

// read is ReadDataEnvelope where a message is valid UTF-8, with a buffer that was used.
func read(msg []byte) (channel []byte, data string, seq int64, ok bool) {
	if !utf8.Valid(msg) {
		return nil, "", 0, false
	}
	channel, text, seq, _, ok := ReadDataEnvelope(msg, []byte("used before"))
	return channel, string(text), seq, ok
}

// TestReadDataEnvelopeLeaves lists what the general decoder has to read.
func TestReadDataEnvelopeLeaves(t *testing.T) {
	good := string(AppendDataEnvelope(nil, "ahp-terminal:/1", "x", 12))
	if _, _, _, ok := read([]byte(good)); !ok {
		t.Fatal("the plain form is not recognised")
	}
	for _, msg := range []string{
		"", "{", good + " ", " " + good, good[:len(good)-1],
		strings.Replace(good, "12}}", "012}}", 1),
		strings.Replace(good, "12}}", "-12}}", 1),
		strings.Replace(good, "12}}", "1e2}}", 1),
		strings.Replace(good, "12}}", "}}", 1),
		strings.Replace(good, "12}}", "1234567890123456789}}", 1),
		strings.Replace(good, "12}}", `12,"origin":{"clientId":"c","clientSeq":1}}}`, 1),
		strings.Replace(good, "12}}", `12,"rejectionReason":"no"}}`, 1),
		strings.Replace(good, "terminal/data", "terminal/input", 1),
		strings.Replace(good, `"x"`, `"x","more":1`, 1),
		strings.Replace(good, `"x"`, `"\x"`, 1),
		strings.Replace(good, `"x"`, `"\u12g4"`, 1),
		strings.Replace(good, `"x"`, "\"\n\"", 1),
		strings.Replace(good, `"x"`, "\"\xff\"", 1),
		strings.Replace(good, `"x"`, `"x`, 1),
		strings.Replace(good, `"x"`, `7`, 1),
		strings.Replace(good, `/1"`, `/1\n"`, 1),
	} {
		if _, data, seq, ok := read([]byte(msg)); ok {
			t.Errorf("ReadDataEnvelope(%q) = %q, %d, want it left alone", msg, data, seq)
		}
	}
	// Data that looks like the end of a message is data.
	checkData(t, "c", `},"serverSeq":5}}`, 7)
	checkData(t, "c", dataSeq+"1"+dataEnd, 7)
}

// FuzzDataEnvelope: both fast ways agree with encoding/json for all texts.
func FuzzDataEnvelope(f *testing.F) {
	for _, s := range dataSamples {
		f.Add("ahp-terminal:/1", s, int64(7))
	}
	f.Fuzz(func(t *testing.T, channel, data string, seq int64) { checkData(t, channel, data, seq) })
}

// FuzzParseDataEnvelope: whatever the fast decoder takes the general one reads
// as the same thing.
func FuzzParseDataEnvelope(f *testing.F) {
	for _, s := range dataSamples {
		f.Add(AppendDataEnvelope(nil, "ahp-terminal:/1", s, 7))
	}
	f.Add([]byte(dataHead + `"c"` + dataMid + `"\ud83d\ude00\ud83d\u0041\udc00\/"` + dataSeq + `1` + dataEnd))
	f.Fuzz(func(t *testing.T, msg []byte) {
		ch, data, seq, ok := read(msg)
		if !ok {
			return
		}
		var m struct {
			JSONRPC, Method string
			Params          ahp.Envelope
		}
		if err := json.Unmarshal(msg, &m); err != nil {
			t.Fatalf("taken, but %v: %q", err, msg)
		}
		want, isData := m.Params.Action.(ahp.TerminalData)
		if m.JSONRPC != "2.0" || m.Method != ahp.MethodAction || !isData || m.Params.Origin != nil || m.Params.RejectionReason != "" {
			t.Fatalf("taken, but it is %#v", m)
		}
		if string(ch) != m.Params.Channel || data != want.Data || seq != m.Params.ServerSeq {
			t.Fatalf("%q\n fast %q %q %d\n slow %#v", msg, ch, data, seq, m.Params)
		}
		if !utf8.ValidString(data) {
			t.Fatalf("%q gave invalid UTF-8", msg)
		}
	})
}

// benchTexts are 32 KiB of output each.
var benchTexts = map[string]string{
	"log":   fill("2026-11-20 18:54:48 INFO  compiled package internal/client in 312 ms, 41 files\r\n"),
	"color": fill("\x1b[38;5;39mhost\x1b[0m/\x1b[1;32mterminal.go\x1b[0m:\x1b[33m128\x1b[m: \x1b[4mfunc\x1b[24m New(c Config)\r\n"),
	"cjk":   fill("日本語のテキスト、端末の出力。\r\n"),
	"boxes": fill("│ name │ value │\r\n├──────┼───────┤\r\n"),
}

func fill(line string) string {
	return strings.Repeat(line, 32<<10/len(line)+1)[:32<<10/len(line)*len(line)]
}

func BenchmarkAppendDataEnvelope(b *testing.B) {
	for name, text := range benchTexts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = AppendDataEnvelope(buf[:0], "ahp-terminal:/1", text, 1<<50)
			}
		})
		b.Run(name+"/unquoted", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = AppendUnquoted(buf[:0], "ahp-terminal:/1", text, 1<<50)
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				notification(b, ahp.Envelope{Channel: "ahp-terminal:/1", Action: ahp.TerminalData{Data: text}, ServerSeq: 1 << 50})
			}
		})
	}
}

func BenchmarkParseDataEnvelope(b *testing.B) {
	for name, text := range benchTexts {
		msg := AppendDataEnvelope(nil, "ahp-terminal:/1", text, 1<<50)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				var ch []byte
				var ok bool
				if ch, _, _, buf, ok = ReadDataEnvelope(msg, buf); !ok || !bytes.HasPrefix(ch, []byte("ahp")) {
					b.Fatal("not taken")
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var m struct{ Params ahp.Envelope }
				if err := json.Unmarshal(msg, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
