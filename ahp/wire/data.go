package wire

import (
	"slices"
	"strconv"

	fast "github.com/segmentio/asm/utf8"

	"tandemux/ahp"
)

// The fixed text around the three values of a data notification.
const (
	dataHead = `{"jsonrpc":"2.0","method":"action","params":{"channel":`
	dataMid  = `,"action":{"type":"terminal/data","data":`
	dataSeq  = `},"serverSeq":`
	dataEnd  = `}}`
)

// AppendDataEnvelope appends a JSON-RPC notification of terminal output:
// {"jsonrpc":"2.0","method":"action","params":{…}} with an action of type terminal/data and
// no origin. Invalid UTF-8 becomes U+FFFD. It is a host's hot path and
// normally allocates only to grow buf.
func AppendDataEnvelope(buf []byte, channel ahp.URI, data string, seq int64) []byte {
	// Escaping makes output with colours a quarter longer; appendQuoted needs room
	// for the worst case of a stretch.
	buf = slices.Grow(buf, len(dataHead)+len(channel)+len(dataMid)+len(data)+len(data)/4+stretch(len(data))+64)
	buf = append(buf, dataHead...)
	buf = appendQuoted(buf, channel)
	buf = append(buf, dataMid...)
	buf = appendQuoted(buf, data)
	buf = append(buf, dataSeq...)
	buf = strconv.AppendInt(buf, seq, 10)
	return append(buf, dataEnd...)
}

// ReadDataEnvelope reads exactly what AppendDataEnvelope writes. It is a viewer's hot path.
// msg must be valid UTF-8, as a WebSocket's messages are. ok is false for anything else, also
// for other spellings of the same message: pass these to the general decoder. channel aliases
// msg. data overwrites buf or, if that is too small, lies in a new buffer. larger is the
// buffer for the next call.
func ReadDataEnvelope(msg, buf []byte) (channel, data []byte, seq int64, larger []byte, ok bool) {
	c := cursor{rest: msg}
	c.skip(dataHead + `"`)
	n := plain(c.rest, 0, false)
	channel, c.rest = c.rest[:n], c.rest[n:]
	c.skip(`"` + dataMid + `"`)
	data, end, ok := unquoteTo(buf[:0], c.rest)
	if !ok {
		return nil, nil, 0, buf, false
	}
	c.rest = c.rest[end:]
	c.skip(dataSeq)
	if seq = c.int(); !c.ends(dataEnd) {
		return nil, nil, 0, buf, false
	}
	return channel, data, seq, data, true
}

// MethodUnquoted is a client's notification: from then on the host may send it terminals'
// output in the form of AppendUnquoted.
const MethodUnquoted = "x-tandemux/unquoted"

// unquotedMark begins output that is not JSON.
const unquotedMark = "\x00out "

// AppendUnquoted appends a message with the values of AppendDataEnvelope, without quotes and
// escapes, for a client that sent MethodUnquoted. Invalid UTF-8 in data becomes U+FFFD. The
// length is in bytes, the numbers are decimal:
//
//	NUL "out " serverSeq " " length of the channel " " channel data
func AppendUnquoted(buf []byte, channel ahp.URI, data string, seq int64) []byte {
	buf = slices.Grow(buf, len(unquotedMark)+48+len(channel)+len(data))
	buf = strconv.AppendInt(append(buf, unquotedMark...), seq, 10)
	buf = strconv.AppendInt(append(buf, ' '), int64(len(channel)), 10)
	buf = append(append(buf, ' '), channel...)
	at := len(buf)
	if buf = append(buf, data...); !fast.Valid(buf[at:]) {
		buf = append(buf[:at], string([]rune(data))...)
	}
	return buf
}

// ReadUnquoted reads what AppendUnquoted writes. channel and data alias msg.
func ReadUnquoted(msg []byte) (channel, data []byte, seq int64, ok bool) {
	c := cursor{rest: msg}
	c.skip(unquotedMark)
	seq = c.int()
	c.skip(" ")
	n := c.int()
	if c.skip(" "); c.failed || n > int64(len(c.rest)) {
		return nil, nil, 0, false
	}
	return c.rest[:n], c.rest[n:], seq, true
}
