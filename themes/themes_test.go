package themes

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"tandemux/emulator"
)

func TestParseColor(t *testing.T) {
	for spelled, want := range map[string]string{
		"#7cc4ff": "#7cc4ff", "#7CC4FF": "#7cc4ff", "#fa0": "#ffaa00", "#000000": "#000000",
		"0": "0", "7": "7", "15": "15", "default": "default",
	} {
		c, err := ParseColor(spelled)
		if err != nil || Spell(c) != want {
			t.Errorf("%q is %s, %v; want %s", spelled, Spell(c), err, want)
		}
		if again, err := ParseColor(Spell(c)); err != nil || again != c {
			t.Errorf("%s reads back as %s, %v", Spell(c), Spell(again), err)
		}
	}
	for _, bad := range []string{"", "#", "#12345", "#1234567", "#gggggg", "#+12345", "#-1234", "16", "-1", "07", "+7", "red", "Default", "#ab\x00", strings.Repeat("9", 999)} {
		if c, err := ParseColor(bad); err == nil || len(err.Error()) > 200 {
			t.Errorf("%.40q was read as %s, %v", bad, Spell(c), err)
		}
	}
}

// TestContrast compares with ratios that WCAG's own tools give.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#ffffff", "#767676", 4.54}, {"#0000ff", "#ffffff", 8.59}, {"#123456", "#123456", 1},
	} {
		a, _ := ParseColor(c.a)
		b, _ := ParseColor(c.b)
		if got, ok := Contrast(a, b); !ok || math.Abs(got-c.want) > 0.005 {
			t.Errorf("%s on %s is %.3f, want %.2f", c.a, c.b, got, c.want)
		}
	}
	if _, ok := Contrast(0, emulator.RGB(0, 0, 0)); ok {
		t.Error("the outer terminal's colour has a contrast")
	}
}

// TestTokensAreTheFields: the table has each field of Colors once, under its
// name, and grounds that exist.
func TestTokensAreTheFields(t *testing.T) {
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Colors]()), func(f reflect.StructField) bool { return f.Anonymous })
	var c Colors
	seen := make(map[*Color]bool)
	for _, field := range fields {
		name := snake(field.Name)
		k := find(name)
		if k == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if at := reflect.ValueOf(&c).Elem().FieldByIndex(field.Index).Addr().Interface().(*Color); k.of(&c) != at || seen[at] {
			t.Errorf("%s is another field", name)
		} else {
			seen[at] = true
		}
		if k.on != "" && (find(k.on) == nil || find(k.on).least != 0) {
			t.Errorf("%s is drawn on %q", name, k.on)
		}
	}
	if len(tokens) != len(fields) {
		t.Errorf("%d tokens for %d fields", len(tokens), len(fields))
	}
}

func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// TestShippedThemesAreCompleteAndReadable: every token is set, the RGB themes
// have no colour of the terminal's, and nothing is hard to read.
func TestShippedThemesAreCompleteAndReadable(t *testing.T) {
	for _, name := range shipped {
		theme, ok := Find(name)
		if !ok || theme.Name != name {
			t.Fatalf("%s is called %q", name, theme.Name)
		}
		doc, err := files.ReadFile(name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range tokens {
			if !strings.Contains(string(doc), "\n"+k.name+" = ") {
				t.Errorf("%s leaves %s out", name, k.name)
			}
			_, _, _, rgb := k.of(&theme.Colors).RGB()
			if rgb == (name == "terminal") {
				t.Errorf("%s: %s is %s", name, k.name, Spell(*k.of(&theme.Colors)))
			}
		}
		for _, fault := range theme.Faults() {
			t.Errorf("%s: %s", name, fault)
		}
	}
	entries, err := files.ReadDir(".")
	if err != nil || len(entries) != len(shipped) {
		t.Errorf("%d files, %d names, %v", len(entries), len(shipped), err)
	}
	if _, ok := Find("solarized"); ok {
		t.Error("there is a theme solarized")
	}
}

// TestBadgesDiffer: who holds a terminal can be told by colour within a theme.
func TestBadgesDiffer(t *testing.T) {
	for _, name := range shipped {
		c, _ := Find(name)
		badges := []Color{c.BadgeMine, c.BadgeAgent, c.BadgeBackground, c.BadgeOther, c.BadgeExited, c.BadgeFailed}
		for i, b := range badges {
			if slices.Contains(badges[:i], b) {
				t.Errorf("%s: badge %d is %s like another one", name, i, Spell(b))
			}
		}
	}
}

func TestFaults(t *testing.T) {
	theme, err := Load([]byte("base = \"tandemux-light\"\n[colors]\nstatus_fg = \"#cccccc\"\nbadge_mine = \"#ffffff\"\nmuted = \"8\""))
	if err != nil {
		t.Fatal(err)
	}
	faults := strings.Join(theme.Faults(), "\n")
	for _, want := range []string{"status_fg: #cccccc on #e3e6ea has a contrast of 1.3, 4.5 is the least", "badge_mine: #ffffff on #ffffff"} {
		if !strings.Contains(faults, want) {
			t.Errorf("no %q in\n%s", want, faults)
		}
	}
	if strings.Contains(faults, "muted") {
		t.Error("a palette colour was judged")
	}
}

func TestLoad(t *testing.T) {
	dark, _ := Find("tandemux-dark")
	light, _ := Find("tandemux-light")
	got, err := Load([]byte("name = \"mine\"\nbase = \"tandemux-light\"\n[colors]\nborder = \"#ABC\"\nmuted = 8\naccent = \"default\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := light
	want.Name = "mine"
	want.Border = emulator.RGB(0xaa, 0xbb, 0xcc)
	want.Muted = emulator.Indexed(8)
	want.Accent = 0
	if got != want {
		t.Errorf("read as %+v", got)
	}
	dark.Name = "user"
	if got, err := Load(nil); err != nil || got != dark {
		t.Errorf("an empty file is %+v, %v", got, err)
	}
	if got, err := Load([]byte("dark = false")); err != nil || got.Dark {
		t.Errorf("dark is %v, %v", got.Dark, err)
	}
	if again, _ := Find("tandemux-light"); again != light {
		t.Error("loading changed the theme that ships")
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for doc, want := range map[string]string{
		"colours = 1":                              `there is no key "colours"; did you mean "colors"?`,
		"[colors]\nboder = \"1\"":                  `colors: there is no key "boder"; did you mean "border"?`,
		"[colors]\nzebra_crossing = \"1\"":         `colors: there is no key "zebra_crossing"`,
		"[colors]\nborder = \"red\"":               `colors: border: "red" is no colour`,
		"[colors]\nborder = 16":                    `colors: border: "16" is no colour`,
		"[colors]\nborder = [1]":                   `colors: border must be a text`,
		"base = \"mud\"":                           `base: there is no theme "mud"; there are tandemux-dark, tandemux-light, `,
		"base = 1":                                 `base must be a string`,
		"dark = \"yes\"":                           `dark must be a boolean`,
		"colors = \"red\"":                         `colors must be a table`,
		"name = \"a\\u001bb\"":                     `name: it is too long or has control characters`,
		"name = 7":                                 `name must be a string`,
		"name = ":                                  `line 1, column `,
		"[colors]\nborder = \"1\"\nborder = \"2\"": `line 3`,
		strings.Repeat("#", maxDoc+1):              `at most 65536 are read`,
		strings.Repeat("k", 99) + " = 1":           `there is no key "` + strings.Repeat("k", maxName) + `…"`,
	} {
		if got, err := Load([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) || got != (Theme{}) {
			t.Errorf("%.60q: %v, want %s", doc, err, want)
		}
	}
	_, err := Load([]byte("x = 1\n[colors]\nborder = \"no\"\ntitel = \"1\""))
	if got := fmt.Sprint(err); strings.Count(got, "\n") != 2 {
		t.Errorf("three faults are\n%s", got)
	}
}
