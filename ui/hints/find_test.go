package hints

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func found(text string) string {
	var all []string
	for _, m := range Find([]byte(text)) {
		all = append(all, fmt.Sprint(m.Kind, ":", text[m.From:m.To]))
	}
	return strings.Join(all, " ")
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"see https://example.com/a_(b)?x=1, or (http://a.b/c).":                  "0:https://example.com/a_(b)?x=1 0:http://a.b/c",
		"ui/model.go:12:3: undefined: x":                                         "1:ui/model.go:12:3",
		"\tmodified:   docs/a b.md":                                              "1:docs/a 1:b.md",
		`"/etc/ssl/certs" 'x/y' <./run.sh>`:                                      "1:/etc/ssl/certs 1:x/y 1:./run.sh",
		"--- a/ui/x.go":                                                          "1:ui/x.go",
		"+++ b/ui/x.go":                                                          "1:ui/x.go",
		"diff --git a/x.go b/x.go":                                               "1:a/x.go 1:b/x.go",
		"-rw-r--r-- 1 ann ann 10234 Nov 26 12:47 CHANGELOG.md":                   "4:10234 1:CHANGELOG.md",
		"~/src/app and ~ and .. and ../up and / and // comment":                  "1:~/src/app 1:../up",
		"commit 47b81092d7c1f0a2b3c4d5e6f708192a3b4c5d6e":                        "3:47b81092d7c1f0a2b3c4d5e6f708192a3b4c5d6e",
		"Updating 1a2b3c4..5d6e7f8":                                              "3:1a2b3c4 3:5d6e7f8",
		"a facade of 1234567 deadbeef":                                           "4:1234567",
		"id 123e4567-e89b-12d3-a456-426614174000":                                "3:123e4567-e89b-12d3-a456-426614174000",
		"listening on 127.0.0.1:7070 and 10.0.0.0/8, not 300.1.2.3":              "2:127.0.0.1:7070 2:10.0.0.0/8",
		"inet6 fe80::1%eth0/64 at 12:34:56, ::1":                                 "2:fe80::1%eth0/64 2:::1",
		"pid 4242, 0xdeadBEEF, v1.2.3, 12 files, 3.14159":                        "4:4242 4:0xdeadBEEF",
		"path=/usr/bin:/bin":                                                     "1:/usr/bin 1:/bin",
		"root@vm:~/demo# scp a.txt me@host:/srv/x/":                              "1:~/demo 1:a.txt 1:/srv/x/",
		"grüße/日本語.txt: ok":                                                      "1:grüße/日本語.txt",
		"ssh://git@host/x.git ends.":                                             "",
		"│ src/a.rs │ 12345 │":                                                   "1:src/a.rs 4:12345",
		"std::string e.g. this one. Next":                                        "1:e.g",
		"":                                                                       "",
		"sha256:" + strings.Repeat("ab12", 16):                                   "3:sha256:" + strings.Repeat("ab12", 16),
		"https://example.com/1234567890abcdef1234567890abcdef12345678/README.md": "0:https://example.com/1234567890abcdef1234567890abcdef12345678/README.md",
	} {
		if got := found(text); got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for path, want := range map[string]string{"a.go": "a.go 0", "a.go:12": "a.go 12", "a.go:12:3": "a.go 12", "/usr/bin:/bin": "/usr/bin:/bin 0", "": " 0"} {
		if name, line := Split(path); fmt.Sprint(name, " ", line) != want {
			t.Errorf("%q: %q %d", path, name, line)
		}
	}
}

// TestLabels: as many as are asked for, none the beginning of another.
func TestLabels(t *testing.T) {
	for _, n := range []int{0, 1, 25, 26, 27, 51, 52, 200, 676, 1000} {
		all := Labels(n)
		if len(all) != min(n, MaxLabels) {
			t.Errorf("%d labels for %d", len(all), n)
		}
		seen := map[string]bool{}
		for _, l := range all {
			if seen[l] {
				t.Errorf("of %d, %q twice", n, l)
			}
			seen[l] = true
		}
		for _, l := range all {
			if len(l) > 2 || len(l) == 2 && seen[l[:1]] {
				t.Errorf("of %d, %q", n, l)
			}
		}
		if n <= 26 && n > 0 && len(all[n-1]) != 1 {
			t.Errorf("%d need %q", n, all[n-1])
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("ui/model.go:12 https://example.com/x 127.0.0.1 47b81092 12345 --- a/x")
	f.Add("日本語/ファイル.txt ://// ::1 0x ....")
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, m := range Find([]byte(s)) {
			if m.From < last || m.To <= m.From || m.To > len(s) {
				t.Fatalf("%q: %+v behind %d", s, m, last)
			}
			if part := s[m.From:m.To]; utf8.ValidString(s) && !utf8.ValidString(part) || strings.ContainsAny(part, " \n\x1b") {
				t.Fatalf("%q: %q", s, part)
			}
			Split(s[m.From:m.To])
			last = m.To
		}
	})
}
