package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"tandemux/ahp"
)

// whole is a notification as package jsonrpc makes it.
func whole(t testing.TB, method string, params any) []byte {
	t.Helper()
	b, err := ahp.Encode(ahp.V1, params)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(`{"jsonrpc":"2.0","method":"` + method + `","params":` + string(b) + `}`)
}

// checkInput holds the fast ways to the general one for any message.
func checkInput(t *testing.T, msg []byte) (dispatch, echo bool) {
	t.Helper()
	p, dispatch := ReadInputDispatch(msg)
	if dispatch {
		var m struct {
			Method string
			Params ahp.DispatchParams
		}
		if err := json.Unmarshal(msg, &m); err != nil || m.Method != ahp.MethodDispatchAction || !reflect.DeepEqual(p, m.Params) {
			t.Fatalf("ReadInputDispatch(%s) = %#v; the general decoder says %#v, %v", msg, p, m, err)
		}
	}
	e, echo := ReadInputEcho(msg)
	if echo {
		var m struct {
			Method string
			Params ahp.Envelope
		}
		if err := json.Unmarshal(msg, &m); err != nil || m.Method != ahp.MethodAction || !reflect.DeepEqual(e, m.Params) {
			t.Fatalf("ReadInputEcho(%s) = %#v; the general decoder says %#v, %v", msg, e, m, err)
		}
	}
	return dispatch, echo
}

// checkWritten holds what is written without reflection to the general encoder, in the form of
// every profile. They spell the place of what is not UTF-8 in two ways.
func checkWritten(t *testing.T, params any, data, got string) {
	t.Helper()
	if !utf8.ValidString(data) {
		got = strings.ReplaceAll(got, `\ufffd`, "\ufffd")
	}
	for _, p := range []ahp.Profile{ahp.V1, ahp.V09, ahp.V05} {
		if want, err := ahp.Encode(p, params); err != nil || string(want) != got {
			t.Errorf("for profile %d it is written as\n%s, and not\n%s, %v", p, got, want, err)
		}
	}
}

func TestInputIsReadAsItIsWritten(t *testing.T) {
	for _, data := range dataSamples {
		for _, seq := range []int64{1, 9, 10, 1e17} {
			p := ahp.DispatchParams{Channel: "ahp-terminal:/1", ClientSeq: seq, Action: ahp.TerminalInput{Data: data}}
			msg, params := InputDispatch(p.Channel, seq, data)
			checkWritten(t, p, data, string(params))
			if p2, ok := ReadInputDispatch(msg); !ok || p2.Channel != p.Channel || p2.ClientSeq != seq {
				t.Errorf("ReadInputDispatch does not know %s", msg)
			}
			msg = whole(t, ahp.MethodDispatchAction, p)
			if dispatch, _ := checkInput(t, msg); !dispatch {
				t.Errorf("ReadInputDispatch does not know %s", msg)
			}
			e := ahp.Envelope{Channel: "ahp-terminal:/1", Action: ahp.TerminalInput{Data: data}, ServerSeq: seq, Origin: &ahp.Origin{ClientID: "me", ClientSeq: 3}}
			msg = whole(t, ahp.MethodAction, e)
			_, echo, _ := strings.Cut(string(InputEcho(e, data)), `"params":`)
			checkWritten(t, e, data, strings.TrimSuffix(echo, "}"))
			if _, echo := checkInput(t, msg); !echo {
				t.Errorf("ReadInputEcho does not know %s", msg)
			}
		}
	}
}

// Whatever is more, less or otherwise goes to the general decoder.
func TestOtherMessagesAreNotInput(t *testing.T) {
	d := string(whole(t, ahp.MethodDispatchAction, ahp.DispatchParams{Channel: "c", ClientSeq: 7, Action: ahp.TerminalInput{Data: "x"}}))
	e := string(whole(t, ahp.MethodAction, ahp.Envelope{Channel: "c", Action: ahp.TerminalInput{Data: "x"}, ServerSeq: 7, Origin: &ahp.Origin{ClientID: "me", ClientSeq: 3}}))
	for _, msg := range []string{
		"", "{}", d[:len(d)-1], d + " ", " " + d, e[:len(e)-1], e + "}",
		strings.Replace(d, "7", "-7", 1), strings.Replace(d, "7", "07", 1), strings.Replace(d, "7", "7.0", 1),
		strings.Replace(d, "7", "1234567890123456789", 1), strings.Replace(d, "7", "", 1),
		strings.Replace(d, `"x"`, "null", 1), strings.Replace(d, `"x"`, "\"\xff\"", 1), strings.Replace(d, `"x"`, `"\q"`, 1),
		strings.Replace(d, `"x"`, `"x","data":"y"`, 1), strings.Replace(d, "terminal/input", "terminal/titleChanged", 1),
		strings.Replace(d, `"c"`, `"c","channel":"d"`, 1), strings.Replace(d, "{", `{"id":1,`, 1),
		string(whole(t, ahp.MethodAction, ahp.Envelope{Channel: "c", Action: ahp.TerminalInput{Data: "x"}, ServerSeq: 7, Origin: &ahp.Origin{ClientID: "me", ClientSeq: 3}, RejectionReason: "no"})),
		string(whole(t, ahp.MethodAction, ahp.Envelope{Channel: "c", Action: ahp.TerminalInput{Data: "x"}, ServerSeq: 7})),
	} {
		if dispatch, echo := checkInput(t, []byte(msg)); dispatch || echo {
			t.Errorf("taken for input: %s", msg)
		}
	}
}

func FuzzInput(f *testing.F) {
	for _, data := range dataSamples {
		f.Add(whole(f, ahp.MethodDispatchAction, ahp.DispatchParams{Channel: "c", ClientSeq: 7, Action: ahp.TerminalInput{Data: data}}))
		f.Add(whole(f, ahp.MethodAction, ahp.Envelope{Channel: "c", Action: ahp.TerminalInput{Data: data}, ServerSeq: 7, Origin: &ahp.Origin{ClientID: "me", ClientSeq: 3}}))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if utf8.Valid(msg) { // as all messages of a WebSocket are
			checkInput(t, msg)
		}
	})
}
