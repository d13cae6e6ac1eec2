package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is any message, decoded. It shares no memory with the text it came
// from.
type message struct {
	JSONRPC string
	ID      json.RawMessage
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage // "null" differs from absent
	Error   *wireError

	badID bool // it had an id that cannot be echoed
}

// maxID bounds an id in bytes: it is sent back.
const maxID = 1024

// parse decodes one message. On an error the id, where there is a usable one,
// is in m.
func parse(text []byte, maxDepth int) (m message, err *Error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 0 && text[0] == '[' && json.Valid(text) {
		return m, &Error{Code: CodeInvalidRequest, Message: "batches are not accepted: send one message at a time"}
	}
	if depth(text) > maxDepth {
		return m, &Error{Code: CodeInvalidRequest, Message: "message is nested more than " + strconv.Itoa(maxDepth) + " deep"}
	}
	wrong, e := m.read(text)
	if e != nil {
		return m, &Error{Code: CodeParse, Message: "message is not JSON: " + e.Error()}
	}
	isAnswer := m.Method == "" && (m.Result != nil || m.Error != nil)
	m.checkID()
	switch {
	case wrong != "":
		return m, &Error{Code: CodeInvalidRequest, Message: "message is not JSON-RPC: " + wrong}
	case m.badID && !isAnswer:
		return m, &Error{Code: CodeInvalidRequest, Message: "id must be a number (or a string) of at most " + strconv.Itoa(maxID) + " bytes"}
	case m.JSONRPC != "2.0":
		return m, &Error{Code: CodeInvalidRequest, Message: `member "jsonrpc" must be "2.0"`}
	case m.Method == "" && !isAnswer:
		return m, &Error{Code: CodeInvalidRequest, Message: "message is neither a request nor an answer"}
	}
	if string(m.Params) == "null" {
		m.Params = nil
	}
	if len(m.Params) > 0 && m.Params[0] != '{' && m.Params[0] != '[' {
		return m, &Error{Code: CodeInvalidParams, Message: "params must be an object"}
	}
	return m, nil
}

// asText takes texts as encoding/json does; names match exactly, and the last of two
// with the same name counts.
var asText = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// read takes the members out of a text. wrong says what is not as it must be with some;
// the others are read all the same.
func (m *message) read(text []byte) (wrong string, err error) {
	var w struct {
		JSONRPC jsontext.Value `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  jsontext.Value `json:"method"`
		Params  jsontext.Value `json:"params"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	if err := jsonv2.Unmarshal(text, &w, asText); err != nil {
		if jsontext.Value(text).IsValid(asText) {
			return "it is not an object", nil
		}
		return "", err
	}
	m.ID, m.Params, m.Result = json.RawMessage(w.ID), json.RawMessage(w.Params), json.RawMessage(w.Result)
	for _, member := range []struct {
		raw  jsontext.Value
		to   any
		must string
	}{
		{w.JSONRPC, &m.JSONRPC, "jsonrpc must be a string"},
		{w.Method, &m.Method, "method must be a string"},
		{w.Error, &m.Error, "error must be an object with code and message"},
	} {
		if member.raw != nil && jsonv2.Unmarshal(member.raw, member.to, asText) != nil {
			wrong = member.must
		}
	}
	return wrong, nil
}

// checkID accepts numbers, which this protocol uses, and strings, which others
// do; either is echoed exactly.
func (m *message) checkID() {
	if len(m.ID) == 0 {
		return
	}
	if c := m.ID[0]; c != '"' && c != '-' && (c < '0' || c > '9') || len(m.ID) > maxID {
		m.ID, m.badID = nil, true
	}
}

// depth is the deepest nesting of arrays and objects in a JSON text. For text that is
// not JSON the number means nothing.
func depth(text []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		case '"':
			i = stringEnd(text, i+1)
		}
	}
	return deepest
}

// stringEnd is where the quote is that ends a string whose text begins at i, or the end of
// the text. Most of a terminal's state is one string.
func stringEnd(text []byte, i int) int {
	for at := i; ; {
		n := bytes.IndexByte(text[at:], '"')
		if n < 0 {
			return len(text)
		}
		slashes := 0
		for at += n; at-slashes > i && text[at-slashes-1] == '\\'; {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
		at++
	}
}

// marshal is json.Marshal without escaping HTML. Raw JSON is passed on.
func marshal(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return json.RawMessage("null"), nil
	case json.RawMessage:
		if len(v) == 0 {
			return json.RawMessage("null"), nil
		}
		return v, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeRequest is a request, or with id 0 a notification.
func encodeRequest(id int64, method string, params any) ([]byte, error) {
	buf := []byte(`{"jsonrpc":"2.0"`)
	if id != 0 {
		buf = append(buf, `,"id":`...)
		buf = strconv.AppendInt(buf, id, 10)
	}
	buf, err := jsontext.AppendQuote(append(buf, `,"method":`...), method)
	if err != nil {
		return nil, err
	}
	if params != nil {
		p, err := marshal(params)
		if err != nil {
			return nil, err
		}
		buf = append(buf, `,"params":`...)
		buf = append(buf, p...)
	}
	return append(buf, '}'), nil
}

// encodeReply is the answer to a request; a nil id becomes null.
func encodeReply(id json.RawMessage, result any, failure error) []byte {
	var body json.RawMessage
	name := resultMember
	if failure == nil {
		b, err := marshal(result)
		if err != nil {
			failure = &Error{Code: CodeInternal, Message: "encode result: " + err.Error()}
		}
		body = b
	}
	if failure != nil {
		name = `,"error":`
		body, _ = marshal(toWire(failure))
	}
	return append(append(beginReply(id, name, len(body)), body...), replyEnd...)
}

// beginReply is what comes before the result, or the error; room is how much follows.
func beginReply(id json.RawMessage, name string, room int) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	buf := make([]byte, 0, 40+len(id)+room)
	buf = append(buf, `{"jsonrpc":"2.0","id":`...)
	return append(append(buf, id...), name...)
}

const (
	resultMember = `,"result":`
	replyEnd     = "}"
)
