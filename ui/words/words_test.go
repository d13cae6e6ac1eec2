package words

import "testing"

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
