package jsonrpc

import (
	"bytes"
	"context"
	"strconv"
)

// Transport moves whole messages. Read and Write may run at the same time;
// each is called by one goroutine at a time. Close may be called at any time
// and more than once, and unblocks both.
type Transport interface {
	// Read returns the next message, valid until the next Read. When the peer
	// has closed the connection the error is a *CloseError.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one message and does not keep it.
	Write(ctx context.Context, msg []byte) error
	// Close ends the connection with a WebSocket status code and a reason of
	// at most 123 bytes. It may wait a moment for the peer's consent.
	Close(code int, reason string) error
}

// DirectWriter is a Transport that can put several messages into one packet, and
// write without waiting for anybody.
type DirectWriter interface {
	Transport
	// WriteMore is Write; more says that another message follows at once, so
	// that this one may wait for it. An empty msg only sends what waits.
	WriteMore(msg []byte, more bool) error
	// TryWrite is WriteMore for a message of at most TryBytes.
	TryWrite(msg []byte, more bool) (Tried, error)
}

// PieceWriter is a Transport that can write a message whose parts lie in several places.
type PieceWriter interface {
	Transport
	WritePieces(pieces Pieces) error
}

// Pieces are JSON in several parts, which are not changed any more: as the result of a
// request, what many are answered with is in memory once.
type Pieces [][]byte

// Size is how many bytes they have.
func (p Pieces) Size() (n int) {
	for _, b := range p {
		n += len(b)
	}
	return n
}

// Tried says what became of a TryWrite.
type Tried uint8

// What becomes of a TryWrite without an error.
const (
	// Written: the message is out, or waits for the one that follows it.
	Written Tried = iota
	// Kept: the peer did not take all of it. The next WriteMore sends the rest
	// before its own message.
	Kept
	// Refused: another write is under way. The message was not taken.
	Refused
)

// Pinger is a Transport that can find out how far its peer has read: it takes a Ping among
// the messages, and Read gives the peer's answer to it where that lies among the peer's.
type Pinger interface {
	Transport
	Pings() bool
}

// Local is a Transport that knows whether its peer is on this machine, with nobody in
// between who reads messages.
type Local interface {
	Transport
	Local() bool
}

// PingMark begins a Ping; no JSON begins with it.
const PingMark = "\x00ping "

// Ping is a message that only a Pinger may be given.
func Ping(number int64) []byte { return strconv.AppendInt([]byte(PingMark), number, 10) }

// Pong reports whether a message is the answer to a Ping, and gives its number; 0 if the
// peer was not asked.
func Pong(msg []byte) (number int64, is bool) {
	if !bytes.HasPrefix(msg, []byte(PingMark)) {
		return 0, false
	}
	number, _ = strconv.ParseInt(string(msg[len(PingMark):]), 10, 64)
	return number, true
}

// TryBytes is the most that is written on the caller's own goroutine: beyond
// it, handing it to the writer costs less than the caller's time.
const TryBytes = 16 << 10
