package wire

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"tandemux/ahp"
)

// The fixed text around the values of a terminal/input, to the host and as its echo.
const (
	inputHead   = `{"jsonrpc":"2.0","method":"dispatchAction","params":` + inputParams
	inputParams = `{"channel":`
	inputSeq    = `,"clientSeq":`
	inputMid    = `,"action":{"type":"terminal/input","data":`
	inputOrigin = `,"origin":{"clientId":`
	inputEnd    = `}}}`
)

// InputDispatch returns a client's notification that dispatches a terminal/input, as Encode
// and jsonrpc write it, and its params.
func InputDispatch(channel ahp.URI, seq int64, data string) (msg, params []byte) {
	b := make([]byte, 0, len(inputHead)+len(inputSeq)+len(inputMid)+len(inputEnd)+stretch(len(channel))+stretch(len(data))+len(data)+32)
	b = appendQuoted(append(b, inputHead...), channel)
	b = strconv.AppendInt(append(b, inputSeq...), seq, 10)
	b = appendQuoted(append(b, inputMid...), data)
	b = append(b, inputEnd...)
	return b, b[len(inputHead)-len(inputParams) : len(b)-1]
}

// InputEcho returns the host's notification that echoes a terminal/input. e.Origin must be
// set.
func InputEcho(e ahp.Envelope, data string) []byte {
	b := make([]byte, 0, 256+stretch(len(e.Channel))+stretch(len(data))+len(data)+stretch(len(e.Origin.ClientID)))
	b = appendQuoted(append(b, dataHead...), e.Channel)
	b = appendQuoted(append(b, inputMid...), data)
	b = strconv.AppendInt(append(b, dataSeq...), e.ServerSeq, 10)
	b = appendQuoted(append(b, inputOrigin...), e.Origin.ClientID)
	b = strconv.AppendInt(append(b, inputSeq...), e.Origin.ClientSeq, 10)
	return append(b, inputEnd...)
}

// ReadInputDispatch reads exactly what InputDispatch writes. ok is false for anything else,
// also for other spellings of the same message: pass these to the general decoder. p does not
// alias msg.
func ReadInputDispatch(msg []byte) (p ahp.DispatchParams, ok bool) {
	c := cursor{rest: msg}
	c.skip(inputHead)
	p.Channel = c.str()
	c.skip(inputSeq)
	p.ClientSeq = c.int()
	c.skip(inputMid)
	p.Action = ahp.TerminalInput{Data: c.str()}
	return p, c.ends(inputEnd)
}

// ReadInputEcho is ReadInputDispatch for the host's echo.
func ReadInputEcho(msg []byte) (e ahp.Envelope, ok bool) {
	c := cursor{rest: msg}
	c.skip(dataHead)
	e.Channel = c.str()
	c.skip(inputMid)
	e.Action = ahp.TerminalInput{Data: c.str()}
	c.skip(dataSeq)
	e.ServerSeq = c.int()
	c.skip(inputOrigin)
	e.Origin = &ahp.Origin{ClientID: c.str()}
	c.skip(inputSeq)
	e.Origin.ClientSeq = c.int()
	return e, c.ends(inputEnd)
}

// cursor reads a message of a known form. After the first mismatch failed is set and it
// returns zero values.
type cursor struct {
	rest   []byte
	failed bool
}

// skip reads fixed text.
func (c *cursor) skip(text string) {
	rest, ok := bytes.CutPrefix(c.rest, []byte(text))
	if !ok {
		c.failed, rest = true, nil
	}
	c.rest = rest
}

func (c *cursor) str() string {
	c.skip(`"`)
	out, end, ok := []byte(nil), 0, false
	if n := plain(c.rest, 0, true); n < len(c.rest) && c.rest[n] == '"' {
		out, end, ok = c.rest[:n], n+1, true
	} else {
		out, end, ok = unquoteTo(nil, c.rest)
	}
	if c.failed = c.failed || !ok || !utf8.Valid(out); c.failed {
		return ""
	}
	c.rest = c.rest[end:]
	return string(out)
}

// int reads a number of 1 to 18 digits.
func (c *cursor) int() (i int64) {
	n := 0
	for ; n < len(c.rest) && c.rest[n] >= '0' && c.rest[n] <= '9'; n++ {
		i = i*10 + int64(c.rest[n]-'0')
	}
	if n == 0 || n > 18 || n > 1 && c.rest[0] == '0' {
		c.failed = true
		return 0
	}
	c.rest = c.rest[n:]
	return i
}

// ends reads fixed text and reports whether the message matched and ends there.
func (c *cursor) ends(text string) bool {
	c.skip(text)
	return !c.failed && len(c.rest) == 0
}
