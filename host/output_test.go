package host

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestOutputIsUsedAgain: the memory of output is used again when all who took it
// have released it, and not before; little output
// has memory of its own.
func TestOutputIsUsedAgain(t *testing.T) {
	text := strings.Repeat("x", leastOutput)
	o := newOutput("ahp-terminal:/t", text, 1)
	want := string(o.buf)
	o.refs.Add(2) // two connections
	o.Release()   // the frame's own
	o.Release()
	var others []*output
	for i := range 100 {
		other := newOutput("ahp-terminal:/t", strings.Repeat("y", leastOutput), int64(i))
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
	f := frame{env: ahp.Envelope{Channel: "ahp-terminal:/t", Action: ahp.TerminalData{Data: "x"}}}
	if b, err := f.bytes(ahp.Profile(0)); err != nil || f.output != nil || cap(b) > 8<<10 {
		t.Errorf("one byte of output takes %d, shared: %v, %v", cap(b), f.output != nil, err)
	}
	if n := testing.AllocsPerRun(100, func() { newOutput("ahp-terminal:/t", text, 3).Release() }); n > 1 {
		t.Errorf("output that is used again allocates %v times", n)
	}
}
