package shell

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	line := func(s string) Mark { return Mark{Kind: Line, Text: s, HasText: true} }
	execute := func(s string) Mark { return Mark{Kind: Execute, Text: s, HasText: true} }
	for _, c := range []struct {
		body string
		want Mark
	}{
		{"133;A", Mark{Kind: Prompt}},
		{"133;A;k=i;aid=7", Mark{Kind: Prompt}},
		{"133;A;k=s", Mark{Kind: Secondary}},
		{"133;P;k=s", Mark{Kind: Secondary}},
		{"133;P;k=r", Mark{}},
		{"133;B", Mark{Kind: Input}},
		{"133;C", Mark{Kind: Execute}},
		{"133;C;cmdline_url=echo%20%C3%BC%3B", execute("echo ü;")},
		{"133;C;cmdline_url=%zz", Mark{Kind: Execute}},
		{`133;C;cmdline=echo\ a\;\ b`, execute("echo a; b")},
		{`133;C;cmdline=$'a\nb\'\x41\101\u263a'`, execute("a\nb'AA☺")},
		{`133;C;cmdline='x y'z`, execute("x yz")},
		{`133;C;cmdline='open`, Mark{Kind: Execute}},
		{"133;D", Mark{Kind: Done}},
		{"133;D;", Mark{Kind: Done}},
		{"133;D;0", Mark{Kind: Done, HasExit: true}},
		{"133;D;137;aid=1", Mark{Kind: Done, Exit: 137, HasExit: true}},
		{"133;D;aid=1", Mark{Kind: Done}},
		{"133;D;99999999999", Mark{Kind: Done}},
		{"133;L", Mark{}},
		{"133", Mark{}},
		{"633;A", Mark{Kind: Prompt}},
		{"633;F", Mark{Kind: Secondary}},
		{"633;G", Mark{Kind: SecondaryEnd}},
		{`633;E;a\x3b b\\x41\n;nonce`, line(`a; b\x41\n`)},
		{"633;E", Mark{}},
		{"633;E;", line("")},
		{"633;E;raw\ttab\nline\x01\x7f", line("raw\ttab\nline")},
		{`633;E;\xe2\x98\xba\xff`, line("☺\uFFFD")},
		{"633;E;" + strings.Repeat("x", MaxText+1), Mark{Kind: Line}},
		{"633;P;Cwd=/a b", Mark{Kind: Directory, Text: "/a b"}},
		{"633;P;Cwd=relative", Mark{}},
		{"633;P;IsWindows=True", Mark{}},
		{`633;EnvJson;{"SECRET":"x"};nonce`, Mark{}},
		{"633;SetMark;Id=x", Mark{}},
		{"7;file://host/a%20b", Mark{Kind: Directory, Text: "/a b", Host: "host"}},
		{"7;file:///a", Mark{Kind: Directory, Text: "/a"}},
		{"7;file://host", Mark{}},
		{"7;file://host/%0a", Mark{}},
		{"7;kitty-shell-cwd://host/a%20b", Mark{Kind: Directory, Text: "/a%20b", Host: "host"}},
		{"7;http://x/", Mark{}},
		{"7;file://h/" + strings.Repeat("x", MaxDir), Mark{}},
		{"1337;CurrentDir=/x", Mark{Kind: Directory, Text: "/x"}},
		{"1337;RemoteHost=u@h", Mark{Kind: Remote, Host: "h"}},
		{"1337;SetUserVar=a=Yg==", Mark{}},
		{"7501;secret;A;4", Mark{Kind: Prompt, Trusted: true, ID: 4}},
		{"7501;secret;A;4;e", Mark{Kind: Prompt, Trusted: true, ID: 4, Ends: true}},
		{"633;A;4;e", Mark{Kind: Prompt}},
		{"7501;secret;C;9", Mark{Kind: Execute, Trusted: true, ID: 9}},
		{"7501;secret;D;2", Mark{Kind: Done, Trusted: true, Exit: 2, HasExit: true}},
		{`7501;secret;E;a\x1b`, Mark{Kind: Line, Trusted: true, Text: "a\x1b", HasText: true}},
		{`7501;secret;W;/a;\x41`, Mark{Kind: Directory, Trusted: true, Text: `/a;\x41`}},
		{"7501;Secret;A", Mark{}},
		{"7501;;A", Mark{}},
		{"7501;secre;A", Mark{}},
		{"7501", Mark{}},
		{"7501;secret;Z", Mark{}},
		{"133;C;cmdline_url=" + strings.Repeat("x", MaxBody), Mark{}},
	} {
		m, ours := Parse([]byte(c.body), "secret")
		if m != c.want || !ours {
			t.Errorf("%.60q: %+v %v, want %+v", c.body, m, ours, c.want)
		}
	}
	if m, _ := Parse([]byte("7501;;A"), ""); m.Trusted {
		t.Error("a mark without a nonce is trusted when there is none")
	}
	for _, body := range []string{
		"0;title", "8;;http://x", "52;c;eA==", "9;9;/x", "3008;start=1", "1337;File=name=eA==:AAAA", "1337;MultipartFile=x",
		"1337;FilePart=x", "1337;FileEnd", "", ";", "1330;A", "0133;A", "1337;x" + strings.Repeat("x", MaxBody),
	} {
		if m, ours := Parse([]byte(body), "secret"); ours || m != (Mark{}) {
			t.Errorf("%.60q is taken for a mark: %+v", body, m)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"133;C;cmdline=$'\\U0010ffff\\777'", `633;E;\x`, "7;file://%/%", "1337;RemoteHost=@", "7501;secret;W;/"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		m, ours := Parse(body, "secret")
		if string(body) != before {
			t.Fatal("the body was changed")
		}
		if !ours && m != (Mark{}) {
			t.Fatalf("passed on, but %+v", m)
		}
		switch m.Kind {
		case Line, Execute:
			if len(m.Text) > 3*MaxText || !utf8.ValidString(m.Text) || !m.HasText && m.Text != "" {
				t.Fatalf("%+v", m)
			}
			if !m.Trusted && strings.ContainsFunc(m.Text, func(r rune) bool { return r == 0x1b || r == 0x9b || r == 7 }) {
				t.Fatalf("controls in %q", m.Text)
			}
		case Directory:
			if len(m.Text) > MaxDir || m.Text[0] != '/' || strings.ContainsAny(m.Text, "\x1b\n\x00") {
				t.Fatalf("%+v", m)
			}
		}
		if m.Trusted && !strings.HasPrefix(before, "7501;secret;") {
			t.Fatalf("trusted without the nonce: %+v", m)
		}
	})
}

// TestMarkWithoutID: a mark of each command, read without an error of what is not there.
func TestMarkWithoutID(t *testing.T) {
	body := []byte("7501;nonce;C")
	if n := testing.AllocsPerRun(100, func() { Parse(body, "nonce") }); n > 1 {
		t.Errorf("%v allocations, more than its text", n)
	}
}
