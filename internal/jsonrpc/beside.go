package jsonrpc

import (
	"bytes"
	"strconv"
)

// Beside is the result of a request with text beside the JSON, for a peer that asked for it.
// The text is neither quoted nor scanned. The message is
//
//	NUL "json " length of the JSON " " JSON text
//
// and UTF-8, as all messages are. The peer accepts it if its Options.Beside is set.
type Beside struct {
	Result Pieces
	Bytes  Pieces
}

const besideMark = "\x00json "

// answer is the message that answers a request: head followed by rest.
func (b Beside) answer(id []byte) (head []byte, rest Pieces) {
	reply := beginReply(id, resultMember, 0)
	head = strconv.AppendInt([]byte(besideMark), int64(len(reply)+b.Result.Size()+len(replyEnd)), 10)
	head = append(append(head, ' '), reply...)
	rest = make(Pieces, 0, len(b.Result)+1+len(b.Bytes))
	return head, append(append(append(rest, b.Result...), []byte(replyEnd)), b.Bytes...)
}

// cut splits a message into its JSON and the bytes beside it. A message without such bytes is
// returned as text whole.
func cut(msg []byte) (text, beside []byte) {
	rest, is := bytes.CutPrefix(msg, []byte(besideMark))
	if !is {
		return msg, nil
	}
	size, rest, ends := bytes.Cut(rest, []byte{' '})
	n, err := strconv.ParseUint(string(size), 10, 31)
	if !ends || err != nil || n > uint64(len(rest)) {
		return msg, nil
	}
	return rest[:n], rest[n:]
}
