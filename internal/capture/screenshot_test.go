package capture

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/internal/svg"
)

// An image has the colours that the terminal was seen in; what is not known of them
// is tandemux's for the same ground.
func TestPaletteOf(t *testing.T) {
	p := paletteOf(&ahp.ReadColors{BG: "#fdf6e3", FG: "#657b83", Palette: []string{"", "#dc322f", "nonsense"}})
	if p.BG != emulator.RGB(0xfd, 0xf6, 0xe3) || p.FG != emulator.RGB(0x65, 0x7b, 0x83) || p.Indexed[1] != emulator.RGB(0xdc, 0x32, 0x2f) {
		t.Errorf("the palette is %+v", p)
	}
	if p.Indexed[0] != svg.Light.Indexed[0] || p.Indexed[2] != svg.Light.Indexed[2] || p.Cursor != svg.Light.Cursor {
		t.Errorf("what is unknown is %+v", p)
	}
	if p := paletteOf(&ahp.ReadColors{BG: "#101010"}); p.BG != emulator.RGB(0x10, 0x10, 0x10) || p.FG != svg.Dark.FG {
		t.Errorf("a dark one is %+v", p)
	}
	if svg.Light.BG == p.BG {
		t.Error("tandemux's own palette was changed")
	}
}

// A recording's header has the colours that an image of it is drawn in.
func TestRecordingsColors(t *testing.T) {
	cast := filepath.Join(t.TempDir(), "seen.cast")
	const text = `{"version":3,"term":{"cols":20,"rows":2,"theme":{"fg":"#657b83","bg":"#fdf6e3"}}}` + "\n" + `[0.1,"o","hello"]` + "\n"
	if err := os.WriteFile(cast, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{"": `fill="#fdf6e3"`, "--light": `fill="#fafbfc"`, "--dark": `fill="#16181d"`} {
		cmd := PlayCommand(nil)
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{cast, "--svg"}, strings.Fields(args)...))
		if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("play --svg %s: %v, no %s in\n%.300s", args, err, want, out.String())
		}
	}
}
