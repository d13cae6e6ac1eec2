package core

import (
	"encoding/json"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/host/outbox"
)

// frame is an action on the wire, encoded at most once for each profile.
type frame struct {
	env     ahp.Envelope
	encoded [4][]byte         // by profile; the last is unquoted output
	outputs [2]*outbox.Output // memory that encoded shares, for output: as JSON, and unquoted
	by      *By
	inner   bool // as Change.Inner
}

// actionPrefix begins each action on the wire.
var actionPrefix = strings.TrimSuffix(string(Notification(ahp.MethodAction, nil)), "}")

// Notification encodes a notification, given encoded params.
func Notification(method string, params json.RawMessage) []byte {
	b := make([]byte, 0, len(method)+len(params)+48)
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(append(b, method...), `","params":`...)
	return append(append(b, params...), '}')
}

func (f *frame) bytes(p ahp.Profile) ([]byte, error) {
	if b := f.encoded[p]; b != nil {
		return b, nil
	}
	if d, ok := f.env.Action.(ahp.TerminalData); ok && f.env.Origin == nil {
		// Output looks the same to everybody.
		b := f.print(&f.outputs[0], wire.AppendDataEnvelope, d.Data)
		for i := range f.encoded[:unquoted] {
			f.encoded[i] = b
		}
		return b, nil
	}
	if typed, ok := f.env.Action.(ahp.TerminalInput); ok && f.env.Origin != nil && f.env.RejectionReason == "" {
		b := wire.InputEcho(f.env, typed.Data)
		f.encoded[p] = b
		return b, nil
	}
	params, err := ahp.Encode(p, f.env)
	if err != nil {
		return nil, err
	}
	b := Notification(ahp.MethodAction, params)
	f.encoded[p] = b
	return b, nil
}

// unquoted is the index in encoded of output for clients that sent wire.MethodUnquoted.
const unquoted = 3

// print encodes output. From outbox.LeastOutput bytes on it uses shared, pooled memory.
func (f *frame) print(o **outbox.Output, as outbox.Form, data string) []byte {
	if len(data) < outbox.LeastOutput {
		return as(nil, f.env.Channel, data, f.env.ServerSeq)
	}
	*o = outbox.NewOutput(as, f.env.Channel, data, f.env.ServerSeq)
	return (*o).Bytes()
}

// of is the frame's bytes for a link, and the Output that owns them, if any.
func (f *frame) of(l *Link) ([]byte, *outbox.Output, error) {
	if d, is := f.env.Action.(ahp.TerminalData); is && l.Unquoted && f.env.Origin == nil {
		if f.encoded[unquoted] == nil {
			f.encoded[unquoted] = f.print(&f.outputs[1], wire.AppendUnquoted, d.Data)
		}
		return f.encoded[unquoted], f.outputs[1], nil
	}
	b, err := f.bytes(l.Profile)
	return b, f.outputs[0], err
}

// params is the envelope encoded as AHP 1.
func (f *frame) params() ([]byte, error) {
	b, err := f.bytes(ahp.V1)
	if err != nil {
		return nil, err
	}
	return b[len(actionPrefix) : len(b)-1], nil
}

// release gives up the frame's own references; the frame must not be sent any more.
func (f *frame) release() {
	for i, o := range f.outputs {
		if o != nil {
			o.Release()
			f.outputs[i], f.encoded = nil, [4][]byte{}
		}
	}
}

func (tx Tx) sendFrame(l *Link, f *frame) {
	if l.Principal.Bounded() || !l.Principal.Operates() {
		a, other := tx.c.o.Shown(tx, l.Principal, f.env.Action)
		if a == nil {
			return
		}
		if other {
			env := f.env
			env.Action = a
			f = &frame{env: env}
		}
	}
	if !ahp.Speaks(l.Profile, f.env.Action.ActionType()) {
		return
	}
	b, output, err := f.of(l)
	if err != nil {
		tx.c.o.Log.Error("encode action", "type", f.env.Action.ActionType(), "seq", f.env.ServerSeq, "err", err)
		return
	}
	if output != nil {
		tx.c.out.SendOutput(l.Out, output)
	} else {
		tx.c.out.Send(l.Out, b)
	}
}
