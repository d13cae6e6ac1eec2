package wire

import (
	"bytes"
	"slices"
	"strconv"

	"tandemux/ahp"
)

// The fixed text around the three values of a data notification.
const (
	dataHead = `{"jsonrpc":"2.0","method":"action","params":{"channel":`
	dataMid  = `,"action":{"type":"terminal/data","data":`
	dataSeq  = `},"serverSeq":`
	dataEnd  = `}}`
)

// AppendDataEnvelope appends the whole JSON-RPC notification that carries
// terminal output: {"jsonrpc":"2.0","method":"action","params":{…}} with an
// action of type terminal/data and no origin. Invalid UTF-8 becomes U+FFFD.
// This is the hot path of a host; it allocates only to grow buf.
func AppendDataEnvelope(buf []byte, channel ahp.URI, data string, seq int64) []byte {
	// Colours grow by a quarter; appendQuoted wants room for the worst of a
	// stretch.
	buf = slices.Grow(buf, len(dataHead)+len(channel)+len(dataMid)+len(data)+len(data)/4+stretch(len(data))+64)
	buf = append(buf, dataHead...)
	buf = appendQuoted(buf, channel)
	buf = append(buf, dataMid...)
	buf = appendQuoted(buf, data)
	buf = append(buf, dataSeq...)
	buf = strconv.AppendInt(buf, seq, 10)
	return append(buf, dataEnd...)
}

// ReadDataEnvelope recognises exactly what AppendDataEnvelope writes, without
// reflection: the hot path of a viewer. msg is known to be valid UTF-8, as those of a
// WebSocket are. ok is false for anything else, also for other spellings of the same
// message, which the general decoder then reads. channel aliases msg; data is in
// buf, whose contents are replaced; larger is buf, or the one that it had to become.
func ReadDataEnvelope(msg, buf []byte) (channel, data []byte, seq int64, larger []byte, ok bool) {
	channel, rest, at, seq, ok := splitData(msg)
	if !ok {
		return nil, nil, 0, buf, false
	}
	data, end, ok := unquoteTo(buf[:0], rest)
	if !ok || end != at {
		return nil, nil, 0, buf, false
	}
	return channel, data, seq, data, true
}

// splitData takes a data notification apart: rest begins with the data, behind
// its first quote, and the text after the data begins at rest[at:].
func splitData(msg []byte) (channel, rest []byte, at int, seq int64, ok bool) {
	i := len(dataHead)
	if len(msg) <= i || string(msg[:i]) != dataHead || msg[i] != '"' {
		return nil, nil, 0, 0, false
	}
	i++
	n := plain(msg, i, false)
	channel = msg[i : i+n]
	i += n
	if i >= len(msg) || msg[i] != '"' {
		return nil, nil, 0, 0, false
	}
	i++
	rest, found := bytes.CutPrefix(msg[i:], []byte(dataMid+`"`))
	if !found {
		return nil, nil, 0, 0, false
	}
	// The end is cheap to check, so it comes before the long part.
	tail := rest[max(0, len(rest)-len(dataSeq)-19-len(dataEnd)):]
	j := bytes.LastIndex(tail, []byte(dataSeq))
	if j < 0 {
		return nil, nil, 0, 0, false
	}
	seq, ok = parseSeq(tail[j+len(dataSeq):])
	return channel, rest, len(rest) - len(tail) + j, seq, ok
}

// parseSeq reads a sequence number and the end of the message.
func parseSeq(b []byte) (seq int64, ok bool) {
	digits, found := bytes.CutSuffix(b, []byte(dataEnd))
	if !found || len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		seq = seq*10 + int64(c-'0')
	}
	return seq, true
}
