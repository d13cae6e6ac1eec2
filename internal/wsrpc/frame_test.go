package wsrpc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tandemux/internal/jsonrpc"
)

// The opcodes of RFC 6455.
const (
	opMore, opText, opBinary, opClose, opPing, opPong = 0x0, 0x1, 0x2, 0x8, 0x9, 0xa
	fin                                               = 0x80
)

// frame is a client's frame, masked, as any library may send it.
func frame(first byte, payload string) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	mask := []byte{1, 2, 3, 4}
	b = append(b, mask...)
	for i := range len(payload) {
		b = append(b, payload[i]^mask[i%4])
	}
	return b
}

// raw is a client that writes bytes.
type raw struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func dialRaw(t testing.TB, l *listener) (raw, jsonrpc.Transport) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	conn, err := net.Dial("unix", strings.TrimPrefix(l.target.URL, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	c := raw{t: t, conn: conn, r: bufio.NewReader(conn)}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	<-l.seen
	tr := <-l.accepted
	t.Cleanup(func() {
		conn.Close()
		tr.Close(1000, "")
	})
	return c, tr
}

// next is the host's next frame.
func (c raw) next() (opcode byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, err
	}
	if head[1]&0x80 != 0 || head[1] > 125 {
		c.t.Fatalf("the host sent the header %x", head)
	}
	payload = make([]byte, head[1])
	_, err = io.ReadFull(c.r, payload)
	return head[0] &^ fin, payload, err
}

// TestFrames: messages in pieces, with others in between, in binary frames, are
// read as they are meant; what breaks the protocol ends the connection with the
// status that the protocol has for it.
func TestFrames(t *testing.T) {
	l := listen(t, "unix", Options{ReadLimit: 1000})
	join := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	const message = `{"a":"ü"}`
	for _, c := range []struct {
		name   string
		send   []byte
		closed int // the status, or 0 when the message arrives
	}{
		{"whole", frame(fin|opText, message), 0},
		{"binary", frame(fin|opBinary, message), 0},
		{"in pieces, cut inside a character", join(frame(opText, message[:6]), frame(opMore, ""), frame(fin|opMore, message[6:])), 0},
		{"in bytes, with pings in between", join(frame(opText, message[:1]), frame(fin|opPing, "one"), frame(fin|opPong, "x"), frame(fin|opMore, message[1:])), 0},
		{"after an unasked pong", join(frame(fin|opPong, ""), frame(fin|opText, message)), 0},
		{"text that is not UTF-8", frame(fin|opText, "\"\xff\""), 1007},
		{"half a character", frame(fin|opText, "\"\xc3"), 1007},
		{"a surrogate", frame(fin|opText, "\"\xed\xa0\x80\""), 1007},
		{"too long", frame(fin|opText, strings.Repeat("x", 1001)), 1009},
		{"too long in pieces", join(frame(opText, strings.Repeat("x", 600)), frame(fin|opMore, strings.Repeat("x", 600))), 1009},
		{"very long", join([]byte{fin | opText, 0x80 | 127, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4}, make([]byte, 2000)), 1009},
		{"as long as can be said, without a byte of it", []byte{fin | opText, 0x80 | 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}, 1009},
		{"too long with the second piece, of which nothing comes", join(frame(opText, strings.Repeat("x", 600)), frame(fin|opMore, strings.Repeat("x", 600))[:8]), 1009},
		{"longer than there are numbers", []byte{fin | opText, 0x80 | 127, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 1002},
		{"not masked", []byte{fin | opText, 2, '{', '}'}, 1002},
		{"reserved bits", frame(fin|0x40|opText, message), 1002},
		{"an unknown kind", frame(fin|0x3, message), 1002},
		{"a piece of nothing", frame(fin|opMore, message), 1002},
		{"a message inside another", join(frame(opText, "{"), frame(fin|opText, message)), 1002},
		{"a ping in pieces", frame(opPing, "x"), 1002},
		{"a long ping", frame(fin|opPing, strings.Repeat("x", 126)), 1002},
		{"a close", frame(fin|opClose, "\x03\xe8bye"), 1000},
		{"a close without a status", frame(fin|opClose, ""), 1005},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, tr := dialRaw(t, l)
			if _, err := client.conn.Write(c.send); err != nil {
				t.Fatal(err)
			}
			msg, err := tr.Read(context.Background()) // the fast way
			if c.closed == 0 {
				if err != nil || string(msg) != message {
					t.Fatalf("read %q, %v", msg, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("read %q", msg)
			}
			tr.Close(1002, "")
			for {
				op, payload, err := client.next()
				if err != nil {
					t.Fatalf("no close frame: %v", err)
				}
				if op != opClose {
					continue
				}
				status := 1005
				if len(payload) >= 2 {
					status = int(binary.BigEndian.Uint16(payload))
				}
				if status != c.closed || !utf8.Valid(payload[min(2, len(payload)):]) {
					t.Fatalf("closed with %d %q", status, payload)
				}
				return
			}
		})
	}
}

// TestPing: a ping is answered with its own bytes, also while nothing is said.
func TestPing(t *testing.T) {
	l := listen(t, "unix", Options{})
	client, tr := dialRaw(t, l)
	ended := make(chan error, 1)
	go func() {
		_, err := tr.Read(context.Background())
		ended <- err
	}()
	client.conn.Write(frame(fin|opPing, "are you there?"))
	if op, payload, err := client.next(); op != opPong || string(payload) != "are you there?" || err != nil {
		t.Fatalf("answered %x %q, %v", op, payload, err)
	}
	client.conn.Close()
	<-ended
}

// TestPingsAmongMessages: the peer's answer to a ping is read where it lies among the
// peer's messages, also that of one who was not asked; nothing else is taken for one, and
// who has no use for answers is given none.
func TestPingsAmongMessages(t *testing.T) {
	l := listen(t, "unix", Options{Pings: true})
	client, host := l.connect(t)
	if !host.(jsonrpc.Pinger).Pings() || client.(jsonrpc.Pinger).Pings() {
		t.Fatal("the host's transport pings, the client's does not")
	}
	say := func(tr jsonrpc.Transport, msg []byte) {
		t.Helper()
		if err := tr.Write(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(tr jsonrpc.Transport, want string) {
		t.Helper()
		if msg, err := tr.Read(context.Background()); err != nil || string(msg) != want {
			t.Fatalf("read %q, %v; want %q", msg, err, want)
		}
	}
	direct := host.(jsonrpc.DirectWriter)
	for i := range int64(3) {
		if err := direct.WriteMore(jsonrpc.Ping(7+i), true); err != nil {
			t.Fatal(err)
		}
		say(host, []byte("news"))
		say(client, []byte("before"))
		hear(client, "news")
		say(client, []byte("after"))
		hear(host, "before")
		msg, err := host.Read(t.Context())
		if n, is := jsonrpc.Pong(msg); n != 7+i || !is || err != nil {
			t.Fatalf("read %q, %v; want the answer to %d", msg, err, 7+i)
		}
		hear(host, "after")
	}
	peer, tr := dialRaw(t, l)
	peer.conn.Write(bytes.Join([][]byte{
		frame(fin|opText, "\x00ping 12"), frame(opText, "in "), frame(fin|opPong, "12"), frame(fin|opMore, "two"),
		frame(fin|opPong, "1"), frame(fin|opPong, "what?"), frame(fin|opText, "last"),
	}, nil))
	for _, want := range []string{"?ping 12", "in two", "\x00ping what?", "last"} {
		hear(tr, want)
	}
	peer, tr = dialRaw(t, listen(t, "unix", Options{}))
	peer.conn.Write(append(frame(fin|opPong, "1"), frame(fin|opText, "heard")...))
	hear(tr, "heard")
}

// FuzzFrames sends bytes to an upgraded connection. What is read as a message
// is UTF-8 within the limit, and every connection comes to its end.
func FuzzFrames(f *testing.F) {
	f.Add(frame(fin|opText, `{"a":1}`))
	f.Add(append(frame(opText, "a"), append(frame(fin|opPing, "p"), frame(fin|opMore, "b")...)...))
	f.Add(append(frame(fin|opText, "\xff"), frame(fin|opClose, "\x03\xe8")...))
	f.Add([]byte{fin | opText, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0x10, 0, 1, 2, 3, 4})
	f.Add([]byte{0x01, 0x80, 0, 0, 0, 0, 0x00, 0x80, 0, 0, 0, 0, fin, 0x80, 0, 0, 0, 0})
	l := listen(f, "unix", Options{ReadLimit: 1000, Pings: true})
	f.Fuzz(func(t *testing.T, sent []byte) {
		client, tr := dialRaw(t, l)
		go func() {
			client.conn.Write(sent)
			client.conn.(*net.UnixConn).CloseWrite()
			io.Copy(io.Discard, client.conn)
		}()
		for {
			msg, err := tr.Read(context.Background()) // the fast way
			if err != nil {
				break
			}
			if _, pong := jsonrpc.Pong(msg); pong {
				continue
			}
			if len(msg) > 1000 || !utf8.Valid(msg) {
				t.Fatalf("read %q", msg)
			}
		}
	})
}

// TestFrameBehindTheAnswer: what a host says in one packet with its answer to the upgrade, and
// in pieces, reaches the client.
func TestFrameBehindTheAnswer(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		key := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n\x81\x02{}\x81\x03{ }\x01\x01{\x80\x01}\x81\x04{",
			base64.StdEncoding.EncodeToString(key[:]))
		fmt.Fprint(conn, "  }")
		io.Copy(io.Discard, conn)
	}()
	tr, err := Dial(t.Context(), Target{URL: "unix://" + path})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close(1000, "")
	for _, want := range []string{"{}", "{ }", "{}", "{  }"} {
		if msg, err := tr.Read(context.Background()); err != nil || string(msg) != want {
			t.Errorf("read %q, %v, want %q", msg, err, want)
		}
	}
}
