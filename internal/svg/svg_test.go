package svg

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/native"
)

var update = flag.Bool("update", false, "rewrite goldens")

func screen(cols, rows int, text string) emulator.Emulator {
	em := native.New(emulator.Options{Cols: cols, Rows: rows})
	em.Write([]byte(text))
	return em
}

// check parses an image and gives its text and its elements' names.
func check(t *testing.T, image []byte) (text string, elements map[string]int, links []string) {
	t.Helper()
	elements = map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(string(image)))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return text, elements, links
		}
		if err != nil {
			t.Fatalf("it is no XML: %v\n%.2000s", err, image)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			elements[tok.Name.Local]++
			for _, a := range tok.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") {
					t.Fatalf("it has a script: %+v", tok)
				}
				if a.Name.Local == "href" {
					links = append(links, a.Value)
				}
			}
		case xml.CharData:
			text += string(tok)
		}
	}
}

// TestScreens: goldens of what is drawn, to be looked at.
func TestScreens(t *testing.T) {
	for name, c := range map[string]struct {
		cols, rows int
		text       string
		o          Options
	}{
		"styles": {40, 12, "\x1b[1mbold\x1b[m \x1b[2mfaint\x1b[m \x1b[3mitalic\x1b[m \x1b[9mstrike\x1b[m \x1b[53mover\x1b[m \x1b[8mhidden\x1b[m\r\n" +
			"\x1b[4mone\x1b[m \x1b[4:2mtwo\x1b[m \x1b[4:3;58;2;255;0;0mcurly\x1b[m \x1b[4:4mdots\x1b[m \x1b[4:5mdash\x1b[m\r\n" +
			"\x1b[31mred\x1b[92mgreen\x1b[38;5;208morange\x1b[38;2;1;2;3mdirect\x1b[m \x1b[7mreverse\x1b[m\r\n" +
			"\x1b[44;97mon blue\x1b[m \x1b[48;5;236m grey \x1b[m\r\n" +
			"漢字 e\u0301 👍🏽 ok\r\n" +
			"\x1b]8;;https://example.org/?a=1&b=2\x1b\\link\x1b]8;;\x1b\\ \x1b]8;;javascript:alert(1)\x1b\\no link\x1b]8;;\x1b\\ <b>&amp;\r\n" +
			"┌──┬──┐ ╭─╮ ╔═╗ ┏━┓ ▁▂▃▄▅▆▇█ ▌▐▀▄░▒▓\r\n" +
			"│  │  │ ╰─╯ ╚═╝ ┗━┛ ▖▗▘▙▚▛▜▝▞▟ ▏▎▍▌▋▊▉\r\n$ ", Options{Cursor: true, Title: "styles & <more>"}},
		"light": {20, 4, "text \x1b[32mgreen\x1b[m\x1b[6 q", Options{Colors: &Light, Cursor: true}},
	} {
		got := Screen(nil, screen(c.cols, c.rows, c.text), c.o)
		check(t, got)
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
			t.Errorf("%s is another image (%v); look at it and run the test with -update", name, err)
		}
	}
}

// TestTextStays: the text of the image is that of the screen, and nothing of it
// is markup.
func TestTextStays(t *testing.T) {
	em := screen(30, 3, "a <script>&\"'\r\n\x1b[1m漢字\x1b[m]]>\r\n--><![CDATA[")
	text, elements, links := check(t, Screen(nil, em, Options{}))
	for _, want := range []string{"a <script>&\"'", "漢", "字", "]]>", "--><![CDATA["} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the text %q", want, text)
		}
	}
	if elements["script"] != 0 || len(links) != 0 {
		t.Errorf("elements %v, links %v", elements, links)
	}
	_, _, links = check(t, Screen(nil, screen(30, 3, "\x1b]8;;HTTPS://e.org\x1b\\x\x1b]8;;file:///etc/passwd\x1b\\y\x1b]8;;\x1b\\"), Options{}))
	if len(links) != 1 || links[0] != "HTTPS://e.org" {
		t.Errorf("links %q", links)
	}
}

// TestColours: the program's own palette, a reversed screen and the cube.
func TestColours(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b]4;1;rgb:12/34/56\x1b\\\x1b[31mx": `fill="#123456"`,
		"\x1b]11;rgb:01/02/03\x1b\\x":          `rx="6" fill="#010203"`,
		"\x1b[?5hx":                            `rx="6" fill="#c9cfd9"`,
		"\x1b[38;5;196mx":                      `fill="#ff0000"`,
		"\x1b[38;5;255mx":                      `fill="#eeeeee"`,
	} {
		if got := string(Screen(nil, screen(5, 1, text), Options{})); !strings.Contains(got, want) {
			t.Errorf("%q lacks %s:\n%s", text, want, got)
		}
	}
}

// TestHistory: lines above the screen are drawn when asked for.
func TestHistory(t *testing.T) {
	em := screen(10, 2, "one\r\ntwo\r\nthree\r\nfour")
	for n, want := range map[int]string{0: "threefour", 1: "twothreefour", 99: "onetwothreefour"} {
		text, _, _ := check(t, Screen(nil, em, Options{History: n}))
		if got := strings.Join(strings.Fields(text), ""); got != want {
			t.Errorf("with %d lines of history: %q, want %q", n, got, want)
		}
	}
}

// FuzzScreen: whatever a program prints, the image is XML without scripts and
// with safe links only.
func FuzzScreen(f *testing.F) {
	f.Add([]byte("\x1b[1;4:3;31m漢\x1b]8;;https://x\"y\x1b\\<é>\u0301\u2588╬"))
	f.Fuzz(func(t *testing.T, p []byte) {
		em := screen(20, 4, string(p))
		_, elements, links := check(t, Screen(nil, em, Options{Cursor: true, History: 5, Title: string(p)}))
		for name := range elements {
			if !strings.Contains(" svg title rect g text path a ", " "+name+" ") {
				t.Fatalf("it has a %s", name)
			}
		}
		for _, l := range links {
			if safeLink(l) == "" {
				t.Fatalf("it has a link %q", l)
			}
		}
	})
}
