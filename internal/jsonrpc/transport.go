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
	// Close ends the connection with a WebSocket status code and a reason of at most 123
	// bytes. It may wait a moment for the peer's close.
	Close(code int, reason string) error
}

// DirectWriter is a Transport that can put several messages into one packet, and write without
// waiting.
type DirectWriter interface {
	Transport
	// WriteMore is Write. more says that another message follows at once, so that this
	// one may wait for it. An empty msg only sends what waits.
	WriteMore(msg []byte, more bool) error
	// TryWrite is WriteMore for a message of at most TryBytes.
	TryWrite(msg []byte, more bool) (Tried, error)
}

// PieceWriter is a Transport that can write a message whose parts lie in several places.
type PieceWriter interface {
	Transport
	WritePieces(pieces Pieces) error
}

// Pieces is JSON in several parts, which must not be changed any more. As results of requests,
// parts that many answers share are in memory once.
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

// Pinger is a Transport that can find out how far its peer has read. Write takes a Ping among
// the messages, and Read returns the peer's answer in order with the peer's messages.
type Pinger interface {
	Transport
	Pings() bool
}

// Local is a Transport that knows whether its peer is on this machine, with nothing in between
// that reads messages.
type Local interface {
	Transport
	Local() bool
}

// PingMark is the prefix of a Ping; no JSON begins with it.
const PingMark = "\x00ping "

// Ping is the message of a ping. Only a Pinger takes it.
func Ping(number int64) []byte { return strconv.AppendInt([]byte(PingMark), number, 10) }

// Pong reports whether a message is the answer to a Ping, and returns the Ping's number, 0 if
// the answer is to none of ours.
func Pong(msg []byte) (number int64, is bool) {
	if !bytes.HasPrefix(msg, []byte(PingMark)) {
		return 0, false
	}
	number, _ = strconv.ParseInt(string(msg[len(PingMark):]), 10, 64)
	return number, true
}

// TryBytes is the most bytes that are written on the calling goroutine. For more it is cheaper
// to wake the writer goroutine.
const TryBytes = 16 << 10
