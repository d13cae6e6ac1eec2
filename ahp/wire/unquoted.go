package wire

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"tandemux/ahp"
)

// MethodUnquoted is a client's notification: from here on a terminal's output may come as
// AppendUnquoted writes it.
const MethodUnquoted = "x-tandemux/unquoted"

// unquotedMark begins output that is not JSON.
const unquotedMark = "\x00out "

// AppendUnquoted appends output for who has sent MethodUnquoted: what AppendDataEnvelope
// says, without quotes and escapes. It is UTF-8, as all messages are:
//
//	NUL "out " serverSeq " " length of the channel " " channel data
func AppendUnquoted(buf []byte, channel ahp.URI, data string, seq int64) []byte {
	if !utf8.ValidString(data) {
		data = string([]rune(data))
	}
	buf = slices.Grow(buf, len(unquotedMark)+48+len(channel)+len(data))
	buf = strconv.AppendInt(append(buf, unquotedMark...), seq, 10)
	buf = strconv.AppendInt(append(buf, ' '), int64(len(channel)), 10)
	return append(append(append(buf, ' '), channel...), data...)
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
