package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzBeside: what is answered with bytes beside the result is taken apart into both, and
// nothing that is not written so is taken apart.
func FuzzBeside(f *testing.F) {
	for _, s := range []string{
		"", "plain", "\x00json 2 {}", "\x00json 2 {}text", "\x00json 3 {}", "\x00json -1 {}", "\x00json +1 {}", "\x00json 02 {}", "\x00json 99999999999999999999 {}",
		"\x00json 2", "\x00json ", "\x00json  {}", "json 2 {}", "é\x00\xff",
	} {
		f.Add([]byte(s), []byte(`{"a":"b"}`))
	}
	f.Fuzz(func(t *testing.T, msg, result []byte) {
		if text, beside := cut(msg); beside != nil {
			if whole := len(text) + len(beside); whole >= len(msg) || !bytes.HasSuffix(msg, slices.Concat(text, beside)) {
				t.Fatalf("%q became %q and %q", msg, text, beside)
			}
		} else if !bytes.Equal(text, msg) {
			t.Fatalf("%q became %q", msg, text)
		}
		parts := Pieces{msg[:len(msg)/2], msg[len(msg)/2:]}
		head, rest := Beside{Result: Pieces{result}, Bytes: parts}.answer([]byte("7"))
		text, beside := cut(slices.Concat(append(Pieces{head}, rest...)...))
		if !bytes.Equal(beside, msg) || string(text) != `{"jsonrpc":"2.0","id":7,"result":`+string(result)+`}` {
			t.Fatalf("%q beside %q became %q beside %q", msg, result, beside, text)
		}
	})
}

// TestBeside: who says so gets what comes beside a result, and has it no more afterwards;
// to others it is no JSON.
func TestBeside(t *testing.T) {
	text := strings.Repeat(`"é\`, 1<<20)
	for _, takes := range []bool{true, false} {
		host, peer := Pipe(4)
		h := New(host, Handler(func(_ context.Context, _ *Conn, req *Request) (any, error) {
			if req.Method == "bare" {
				return 1, nil
			}
			return Beside{Result: Pieces{[]byte(`{"n":`), []byte("5}")}, Bytes: Pieces{[]byte(text[:99]), []byte(text[99:])}}, nil
		}), Options{})
		c := New(peer, nil, Options{Beside: takes})
		for _, conn := range []*Conn{h, c} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				conn.Run(t.Context()) //nolint:errcheck // it ends with the test
			}()
			t.Cleanup(func() {
				conn.Close(CloseDone, "") //nolint:errcheck // as above
				<-done
			})
		}
		got := make(chan string, 2)
		note := func(result json.RawMessage, err error) {
			if err != nil { // what could not be read has no answer
				return
			}
			got <- string(result) + string(c.Extra())
		}
		if err := c.Go("beside", nil, note); err != nil {
			t.Fatal(err)
		}
		if err := c.Go("bare", nil, note); err != nil {
			t.Fatal(err)
		}
		want := []string{`{"n":5}` + text, "1"}
		if !takes {
			want = want[1:]
		}
		for _, w := range want {
			select {
			case g := <-got:
				if g == w {
					continue
				}
				t.Errorf("takes %v: got %d bytes, %.40q; want %d, %.40q", takes, len(g), g, len(w), w)
			case <-c.Done():
				t.Fatal("the connection has ended")
			}
		}
	}
}
