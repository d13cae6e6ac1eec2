package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTimeout: a call lasts no longer than clients wait, unless its progress is followed.
// TestLongCommand does so for real, in a soak.
func TestTimeout(t *testing.T) {
	const most = int64(patience / time.Millisecond)
	for _, c := range []struct {
		asked, want int64
		followed    bool
		refused     string
	}{
		{asked: 0, want: 7000},
		{asked: 1, want: 1},
		{asked: most, want: most},
		{asked: 600_000, want: most},
		{asked: 600_000, followed: true, want: 600_000},
		{asked: maxTimeout.Milliseconds() + 1, followed: true, refused: "out of range"},
		{asked: -1, refused: "out of range"},
	} {
		p := &mcp.CallToolParamsRaw{}
		if c.followed {
			p.SetProgressToken("x")
		}
		got, err := call{req: &mcp.CallToolRequest{Params: p}}.timeout(c.asked, 7*time.Second)
		if refused := err != nil && c.refused != "" && strings.Contains(err.Error(), c.refused); got != c.want || refused != (c.refused != "") {
			t.Errorf("%d ms, followed %v: %d, %v", c.asked, c.followed, got, err)
		}
	}
}
