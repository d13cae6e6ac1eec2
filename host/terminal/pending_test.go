package terminal

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestOutputInPieces: much output becomes several actions, cut between
// characters, in order and complete.
func TestOutputInPieces(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", strings.Repeat("x", maxData), strings.Repeat("x", maxData+1), "x" + strings.Repeat("漢é😀", maxData/3)} {
		p := pending{data: []byte(text)}
		var got strings.Builder
		all := p.take()
		for i, a := range all {
			piece := a.(ahp.TerminalData).Data
			if len(piece) > maxData || i < len(all)-1 && len(piece) < maxData-3 {
				t.Errorf("piece %d of %d has %d bytes", i, len(all), len(piece))
			}
			if strings.ToValidUTF8(piece, "?") != piece {
				t.Errorf("piece %d is cut within a character", i)
			}
			got.WriteString(piece)
		}
		if got.String() != text {
			t.Errorf("of %d bytes %d came, or others", len(text), got.Len())
		}
		if !p.empty() || p.size != 0 {
			t.Errorf("something is left: %+v", p)
		}
	}
}

// TestBufferOfPending: a flood's buffer is used again for as long as it lasts,
// and given back after it.
func TestBufferOfPending(t *testing.T) {
	t.Parallel()
	var p pending
	flood, little := make([]byte, 4*chunk), []byte("x")
	turn := func(b []byte) {
		p.data = append(p.data, b...)
		p.take()
	}
	turn(flood)
	kept := cap(p.data)
	for range 3 * keepFor {
		for range keepFor - 1 {
			turn(little)
		}
		turn(flood)
	}
	if cap(p.data) != kept {
		t.Errorf("the buffer has %d bytes, at first %d", cap(p.data), kept)
	}
	for range keepFor {
		turn(little)
	}
	if cap(p.data) > chunk {
		t.Errorf("after the flood the buffer has %d bytes", cap(p.data))
	}
}
