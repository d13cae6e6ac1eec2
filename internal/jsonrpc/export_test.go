package jsonrpc

import (
	"encoding/json"
	"strconv"
)

// Again reads a message and writes it as this side would.
func Again(text json.RawMessage) (json.RawMessage, error) {
	m, bad := parse(text, 10)
	if bad != nil {
		return nil, bad
	}
	if m.Method == "" {
		if m.Error != nil {
			return encodeReply(m.ID, nil, &Error{Code: m.Error.Code, Message: m.Error.Message}), nil
		}
		return encodeReply(m.ID, m.Result, nil), nil
	}
	var id int64
	if m.ID != nil {
		var err error
		if id, err = strconv.ParseInt(string(m.ID), 10, 64); err != nil {
			return nil, err
		}
	}
	return encodeRequest(id, m.Method, m.Params)
}

// Parsed shows what parse makes of a text, for tests.
func Parsed(text []byte, maxDepth int) (id []byte, method string, params []byte, code int) {
	m, err := parse(text, maxDepth)
	if err != nil {
		code = err.Code
	}
	return m.ID, m.Method, m.Params, code
}

// Depth is depth.
func Depth(text []byte) int { return depth(text) }
