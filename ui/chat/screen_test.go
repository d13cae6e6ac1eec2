package chat

import (
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/engine"
)

// screenOf is what a terminal shows that is sent out.
func screenOf(t testing.TB, w, h int, out []byte) string {
	t.Helper()
	e, err := engine.New("native", emulator.Options{Cols: w, Rows: h})
	if err != nil {
		t.Fatal(err)
	}
	e.Write(out)
	rows := strings.Split(emulator.ScreenText(e), "\n")
	for i, r := range rows {
		rows[i] = strings.TrimRight(r, " ")
	}
	return strings.Join(rows, "\n")
}
