package words

import (
	"testing"
	"time"
)

// TestTextsOfOthers: nothing is left that acts on a terminal or turns writing around.
func TestTextsOfOthers(t *testing.T) {
	const in = "a\x1b[31m\tb\u202ec\u2066\u2028\r\n\n d\u009b\x7fé"
	for _, c := range []struct {
		name string
		got  string
		want string
	}{
		{"Clean", Clean(in), "a[31mbc dé"},
		{"Lines", Lines(in), "a[31m    bc\n\n dé"},
		{"Line", Line(in), "a[31m bc dé"},
	} {
		if c.got != c.want {
			t.Errorf("%s gives %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		40 * time.Millisecond: {"40ms", "0s"}, 1590 * time.Millisecond: {"1.5s", "1s"}, 12 * time.Second: {"12s", "12s"},
		61 * time.Second: {"1m01s", "1m01s"}, 3*time.Hour + time.Minute: {"3h01m", "3h01m"},
	} {
		if got := [2]string{Lasted(d), Lasting(d)}; got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// Blanks within a line are kept, as in a command (A14).
func TestLine(t *testing.T) {
	if got := Line("  awk '{a  b}'\n\n  \tx \r\n"); got != "awk '{a  b}' x" {
		t.Errorf("got %q", got)
	}
}
