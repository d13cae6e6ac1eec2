package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"tandemux/ahp"
)

// clientOf is the id by which a page introduces itself, empty in other messages.
func clientOf(msg []byte) string {
	var m struct {
		Params struct {
			ClientID string `json:"clientId"`
		} `json:"params"`
	}
	json.Unmarshal(msg, &m) //nolint:errcheck // then it has none
	return m.Params.ClientID
}

// unproved gives the message of somebody to another host who has not proved to be there; or,
// where it may allow an agent something, the refusal for who sent it, whose id there is as.
//
// What goes on is written anew from what was read, so that the host reads nothing else: of
// two members of a name there is one left.
func unproved(msg []byte, as string) (on, refusal []byte, err error) {
	d := json.NewDecoder(bytes.NewReader(msg))
	d.UseNumber()
	var said any
	if err = d.Decode(&said); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("more than one value")
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read a page's message to another host: %w", err)
	}
	if !allows(said) {
		on, err = json.Marshal(said)
		return on, nil, err
	}
	const why = "a passkey has to confirm this first"
	var m struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Channel   ahp.URI         `json:"channel"`
			ClientSeq json.RawMessage `json:"clientSeq"`
			Action    json.RawMessage `json:"action"`
		} `json:"params"`
	}
	json.Unmarshal(msg, &m) //nolint:errcheck // then less of it is answered
	if m.ID != nil {
		refusal, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": ahp.CodePermissionDenied, "message": why}})
		return nil, refusal, err
	}
	refusal, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "action", "params": map[string]any{
		"channel": m.Params.Channel, "serverSeq": 0, "action": m.Params.Action, "rejectionReason": why,
		"origin": map[string]any{"clientId": as, "clientSeq": m.Params.ClientSeq},
	}})
	return nil, refusal, err
}

// allows reports whether a message may let an agent do something: it says yes to a question
// or a tool call, or that calls are not to be asked about. Members count in whichever case
// they are written, as readers of JSON take them, and wherever they stand: a newer host may
// have them elsewhere.
func allows(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			switch {
			case (strings.EqualFold(name, "approved") || strings.EqualFold(name, "grant")) && value == true,
				strings.EqualFold(name, "tandemux/confirm") && value != nil && value != ahp.ConfirmAsk && value != "",
				allows(value):
				return true
			}
		}
	case []any:
		if slices.ContainsFunc(v, allows) {
			return true
		}
	}
	return false
}
