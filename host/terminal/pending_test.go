package terminal

import (
	"strings"
	"testing"

	"cotty/ahp"
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
