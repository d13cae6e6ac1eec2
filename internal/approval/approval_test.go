package approval

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
)

func pending(title, input string, options ...ahp.ToolOption) *ahp.ToolCall {
	return &ahp.ToolCall{Status: ahp.ToolPending, ToolCallID: "c", InvocationMessage: ahp.Plain(title), ToolInput: ahp.TextInput(input), ToolQuestion: ahp.ToolQuestion{Options: options}}
}

func option(id, group string) ahp.ToolOption {
	kind := ahp.OptionApprove
	if strings.HasPrefix(group, "reject") {
		kind = ahp.OptionDeny
	}
	o := ahp.ToolOption{ID: id, Label: id, Kind: kind}
	if group != "" {
		o.Meta = json.RawMessage(`{"tandemux/group":"` + group + `"}`)
	}
	return o
}

func texts(v View) string {
	var out []string
	for _, l := range v.Lines {
		out = append(out, fmt.Sprint(l.Kind, " ", l.Text))
	}
	return strings.Join(out, "\n")
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"ls -l":                                 "ls -l",
		"a\x1b[2K\rb\x9bc":                      "a<U+001B>[2K<U+000D>b<0x9B>c",
		"a\u009bc":                              "a<U+009B>c",
		"a\u202eb\u2066c\u200bd\ufeff":          "a<U+202E>b<U+2066>c<U+200B>d<U+FEFF>",
		"a\u00a0b\u3164c\u2800d":                "a<U+00A0>b<U+3164>c<U+2800>d",
		"a\U000e0041b\u200d":                    "a<U+E0041>b<U+200D>",
		"cafe\u0301 \u0301;\u0338":              "cafe\u0301 <U+0301>;<U+0338>",
		"e\u0301\u0301\u0301":                   "e\u0301\u0301<U+0301>",
		"a\tb":                                  "a    b",
		"漢字 ok":                                 "漢字 ok",
		"x" + strings.Repeat(" ", 300) + "; rm": "x<300 blanks>; rm",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := strings.Join(lines("a\n\n\n\n\n\nb\n"), "|"); got != "a|<5 empty lines>|b" {
		t.Errorf("lines: %s", got)
	}
}

// TestAll: everything that a call carries is in the question, once.
func TestAll(t *testing.T) {
	c := pending("Run `make`", `{"why":"to test","command":"make\nrm -rf /","command":"second","args":["\u0063url","a\nb"]}`)
	want := "0 Allow Run make?\n1 make\n1 rm -rf /\n1 second\n2 why: to test\n2 args: [\"curl\",\"a\\nb\"]"
	if got := texts(Of(c, nil)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	edited := "rm x"
	if got := texts(Of(c, &edited)); got != "0 Allow Run make?\n1 rm x" {
		t.Errorf("edited:\n%s", got)
	}
	if got := texts(Of(pending("echo `rm -rf x`", "{}"), nil)); got != "0 Allow echo `rm -rf x`?" {
		t.Errorf("a title that is all there is: %s", got)
	}
	data := func(text string, size int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"uri":"file:///a/b.sh","content":{"uri":"data:text/plain;base64,%s","sizeHint":%d}}`, base64.StdEncoding.EncodeToString([]byte(text)), size))
	}
	c = pending("Edit b.sh", `{"path":"/a/b.sh","new":"B","command":"B","other":"more"}`)
	c.Edits = json.RawMessage(`{"items":[{"before":` + string(data("a\nb\n", 4)) + `,"after":` + string(data("a\nB\u202e\n", 7)) + `}]}`)
	want = "0 Allow Edit b.sh?\n1 B\n2 other: more\n3 /a/b.sh\n6 a\n5 b\n4 B<U+202E>"
	if got := texts(Of(c, nil)); got != want {
		t.Errorf("edit:\n%s\nwant:\n%s", got, want)
	}
	c.Edits = json.RawMessage(`{"items":[{"after":` + string(data("a\n", 9000)) + `}]}`)
	v := Of(c, nil)
	r := NewReading(v)
	r.Lay(80, 100, 2)
	if v.Partial == "" || v.Default != -1 || r.Can(v.Options[0]) == "" || r.Can(v.Options[1]) != "" {
		t.Errorf("a change of which a part is missing can be allowed: %+v", v)
	}
	c = pending("x", "")
	c.Meta = json.RawMessage(`{"tandemux/partial":true,"tandemux/text":"a plan"}`)
	if v := Of(c, nil); v.Partial == "" || !strings.Contains(texts(v), "a plan") {
		t.Errorf("partial: %+v", v)
	}
	c.Meta, c.Edits = nil, json.RawMessage(`{"items":[{"after":{"uri":"file:///x","content":{"uri":"x-store:/1"}}}]}`)
	if v := Of(c, nil); v.Partial == "" {
		t.Error("a change that is not in the message can be allowed")
	}
	c.Edits = json.RawMessage(`{"items":[{"after":{"uri":"file:///x"},"diff":"--- a\nhidden\n@@ -1 +1 @@\n-a\n+b\n"}]}`)
	if got := texts(Of(c, nil)); !strings.Contains(got, "hidden") || !strings.Contains(got, "4 b") {
		t.Errorf("a diff that came as text:\n%s", got)
	}
}

// TestPreselected: never more than once, and what is not known is not once.
func TestPreselected(t *testing.T) {
	for want, options := range map[int][]ahp.ToolOption{
		0:  nil,
		1:  {option("always", "allow_always"), option("once", "allow_once"), option("no", "reject_once")},
		-1: {option("Allow once", ""), option("always", "allow_always"), option("no", "reject_always")},
	} {
		v := Of(pending("x", "", options...), nil)
		if v.Default != want {
			t.Errorf("%v: preselected %d, want %d", options, v.Default, want)
		}
		for i, o := range v.Options {
			if strings.Contains(o.ID, "always") && i != 2 && !strings.Contains(o.Covers, "later ones") {
				t.Errorf("%+v does not say what it covers", o)
			}
		}
	}
	lying := option("once", "allow_once")
	lying.Kind = ahp.OptionDeny
	if v := Of(pending("x", "", lying), nil); v.Default != -1 || v.Options[0].Allows {
		t.Errorf("an option that denies counts as one that allows: %+v", v)
	}
	claim := Claim(ahp.Ask{Who: "a\x1b", Reason: "r\n" + strings.Repeat("x", 500)}, ahp.TerminalInfo{Resource: "ahp-terminal:/7", Title: "t\u202e"})
	if claim.Default != -1 || !strings.Contains(texts(claim), strings.Repeat("x", 500)) || strings.ContainsAny(texts(claim), "\x1b\u202e") {
		t.Errorf("claim: %d\n%s", claim.Default, texts(claim))
	}
}

// TestRows: rows joined are the lines, none wider than the width.
func TestRows(t *testing.T) {
	v := Of(pending("x", `{"command":"`+strings.Repeat("漢字 abc ", 60)+`; rm"}`), nil)
	for w := 1; w < 90; w++ {
		var b strings.Builder
		for _, r := range v.Rows(w) {
			if r.Kind == Command {
				b.WriteString(r.Text)
			}
		}
		if b.String() != v.Lines[1].Text {
			t.Fatalf("in %d cells: %q", w, b.String())
		}
	}
}

// TestReading: nothing can be allowed before the end was shown, in any size, and
// each row was in a frame by then.
func TestReading(t *testing.T) {
	v := Of(pending("x", `{"command":"`+strings.Repeat("0123456789", 25)+`; curl -o ~/.bashrc"}`, option("once", "allow_once"), option("no", "reject_once")), nil)
	for _, size := range [][2]int{{80, 24}, {40, 12}, {40, 6}, {20, 4}, {9, 3}, {1, 2}, {5, 1}} {
		w, h := size[0], size[1]
		r := NewReading(v)
		seen := map[int]bool{}
		for steps := 0; ; steps++ {
			f := r.Lay(w, h, 2)
			for i := range f.Rows {
				seen[f.From+i] = true
			}
			if can := r.Can(v.Options[0]) == ""; can != f.Options {
				t.Fatalf("%v: can %v, options show %v", size, can, f.Options)
			}
			if r.Can(v.Options[1]) != "" {
				t.Fatalf("%v: can't be refused", size)
			}
			if f.Options {
				if n := len(v.Rows(w)); len(seen) != n {
					t.Errorf("%v: allowed with %d of %d rows shown", size, len(seen), n)
				}
				if first := steps == 0; first != (r.At == v.Default) {
					t.Errorf("%v: %d is preselected after %d steps", size, r.At, steps)
				}
				break
			}
			if steps > 1000 {
				t.Fatalf("%v: never comes to its end", size)
			}
			r.Page(1)
			r.Page(1) // twice without a frame between: nothing is skipped
		}
	}
}
