package outbox

import (
	"strings"
	"testing"

	"tandemux/ahp/wire"
)

// TestOutputIsUsedAgain: the memory of output is used again when all who took it
// have released it, and not before; little output
// has memory of its own.
func TestOutputIsUsedAgain(t *testing.T) {
	text := strings.Repeat("x", LeastOutput)
	o := NewOutput(wire.AppendDataEnvelope, "ahp-terminal:/t", text, 1)
	want := string(o.buf)
	o.refs.Add(2) // two connections
	o.Release()   // the frame's own
	o.Release()
	var others []*Output
	for i := range 100 {
		other := NewOutput(wire.AppendDataEnvelope, "ahp-terminal:/t", strings.Repeat("y", LeastOutput), int64(i))
		if others = append(others, other); &other.buf[0] == &o.buf[0] {
			t.Fatal("memory that a connection still writes from was used again")
		}
	}
	if string(o.buf) != want {
		t.Error("the output has changed")
	}
	for _, other := range others {
		other.Release()
	}
	o.Release()
	if n := testing.AllocsPerRun(100, func() { NewOutput(wire.AppendDataEnvelope, "ahp-terminal:/t", text, 3).Release() }); n > 1 {
		t.Errorf("output that is used again allocates %v times", n)
	}
}
