package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strconv"
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
	deepest := depth(text)
	if deepest > maxDepth {
		return m, &Error{Code: CodeInvalidRequest, Message: "message is nested more than " + strconv.Itoa(maxDepth) + " deep"}
	}
	if !valid(text, deepest) {
		var v any
		return m, &Error{Code: CodeParse, Message: "message is not JSON: " + json.Unmarshal(text, &v).Error()}
	}
	wrong := m.read(text)
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

// read takes the members out of a text that is valid JSON. Their names match
// exactly, unlike json.Unmarshal's, and the last of two with the same name counts.
// The error says what is wrong with some; the others are read all the same.
func (m *message) read(text []byte) (wrong string) {
	if len(text) == 0 || text[0] != '{' {
		return "it is not an object"
	}
	str := func(name string, raw []byte, to *string) {
		if json.Unmarshal(raw, to) != nil {
			wrong = name + " must be a string"
		}
	}
	for at := blanks(text, 1); text[at] != '}'; at = blanks(text, at) {
		if text[at] == ',' {
			at = blanks(text, at+1)
		}
		end := valueEnd(text, at)
		name := text[at+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			var s string
			if json.Unmarshal(text[at:end], &s) == nil {
				name = []byte(s)
			}
		}
		at = blanks(text, blanks(text, end)+1) // behind the colon
		end = valueEnd(text, at)
		raw := text[at:end]
		at = end
		switch string(name) {
		case "jsonrpc":
			str("jsonrpc", raw, &m.JSONRPC)
		case "id":
			m.ID = bytes.Clone(raw)
		case "method":
			m.Method = ""
			str("method", raw, &m.Method)
		case "params":
			m.Params = bytes.Clone(raw)
		case "result":
			m.Result = bytes.Clone(raw)
		case "error":
			m.Error = nil
			if json.Unmarshal(raw, &m.Error) != nil {
				wrong = "error must be an object with code and message"
			}
		}
	}
	return wrong
}

// blanks is the index of the first byte from at on that is no blank.
func blanks(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n' {
		at++
	}
	return at
}

// valueEnd is the index behind the value that begins at at, in valid JSON.
func valueEnd(text []byte, at int) int {
	for level := 0; ; at++ {
		switch text[at] {
		case '"':
			for at = runEnd(text, at+1); text[at] != '"'; at = runEnd(text, at+2) {
			}
		case '{', '[':
			level++
			continue
		case '}', ']':
			if level == 0 {
				return at // the end of what the value is in
			}
			level--
		case ',', ' ', '\t', '\r', '\n':
			if level == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if level == 0 {
			return at + 1
		}
	}
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
			for i = runEnd(text, i+1); i < len(text) && text[i] != '"'; i = runEnd(text, i) {
				if text[i] == '\\' {
					i++
				}
				i = min(i+1, len(text))
			}
		}
	}
	return deepest
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
	name, err := marshal(method)
	if err != nil {
		return nil, err
	}
	buf := []byte(`{"jsonrpc":"2.0"`)
	if id != 0 {
		buf = append(buf, `,"id":`...)
		buf = strconv.AppendInt(buf, id, 10)
	}
	buf = append(buf, `,"method":`...)
	buf = append(buf, name...)
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
	name := `,"result":`
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
	if id == nil {
		id = json.RawMessage("null")
	}
	buf := make([]byte, 0, 40+len(id)+len(body))
	buf = append(buf, `{"jsonrpc":"2.0","id":`...)
	buf = append(buf, id...)
	buf = append(buf, name...)
	buf = append(buf, body...)
	return append(buf, '}')
}
