package hosts

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestChange: what is written is read, by nobody else, and writers at once lose nothing.
func TestChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := Change(dir, func(list []Host) ([]Host, error) {
				return append(list, Host{Name: "h" + strconv.Itoa(i), URL: "ssh://me@\"m\\" + strconv.Itoa(i), TokenFile: "/tmp/ä b"}), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := Read(dir)
	if err != nil || len(list) != 20 {
		t.Fatalf("%d hosts, %v", len(list), err)
	}
	h, ok := Find(list, "h7")
	if want := (Host{Name: "h7", URL: "ssh://me@\"m\\7", TokenFile: "/tmp/ä b"}); !ok || h != want {
		t.Errorf("h7 is %+v", h)
	}
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"[[host]]\nname = \"a\"\nurl = \"ssh://a\"\n[[host]]\nname = \"a\"\nurl = \"ssh://b\"", "two hosts are called a"},
		{"[[host]]\nname = \"a\"", "host a has no address"},
		{"[[host]]\nname = \"../a\"\nurl = \"ssh://a\"", "no name for a host"},
		{"[[host]]\nname = \"ssh\"\nurl = \"ssh://a\"", "means something else"},
		{"[[host]]\nname = \"a\"\nurl = \"ssh://a\"\ntoken = \"secret\"", `"host.token" means nothing`},
		{"[[host]]\nname = \"a\"\nurl = \"ssh://a\\u001b[2J\"", "can't be read"},
		{strings.Repeat("[[host]]\nname = \"a\"\nurl = \"ssh://a\"\n", 300), "at most 256"},
	} {
		if _, err := parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60q: %v, which does not say %q", c.text, err, c.says)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ text, name, id string }{
		{"build:abc", "build", "abc"},
		{"local:abc", "local", "abc"},
		{"build:a:b", "build", "a:b"},
		{"abc", "", "abc"},
		{"ahp-terminal:/abc", "", "ahp-terminal:/abc"},
		{"build:", "", "build:"},
		{"fs:x", "", "fs:x"},
		{":x", "", ":x"},
		{"a b:x", "", "a b:x"},
	} {
		if name, id, ok := Cut(c.text); name != c.name || id != c.id || ok != (c.name != "") {
			t.Errorf("Cut(%q) = %q, %q, %v", c.text, name, id, ok)
		}
	}
}

// FuzzParse: a list that is read can be written, and is then the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte("[[host]]\nname = \"a\"\nurl = \"ssh://a\"\ntoken-file = \"/x\"\n"))
	f.Add([]byte("[[host]]\nname = \"a\"\nurl = \"wss://a\"\nhub = true\n"))
	f.Add([]byte("host = [{name = 'b', url = 'wss://b:1'}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parse(text)
		if err != nil {
			t.Skip()
		}
		again, err := parse(write(list))
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("%+v became %+v, %v", list, again, err)
		}
	})
}
