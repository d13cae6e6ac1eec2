//go:build linux

package medium

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// reader is that of a terminal in whose foreground this test runs.
func reader() *Reader { return &Reader{Foreground: os.Getpid} }

// command is a graphics command that names something.
func command(keys, name string) []byte {
	return []byte(keys + ";" + base64.StdEncoding.EncodeToString([]byte(name)))
}

// data takes a command's data apart.
func data(t *testing.T, command []byte) (keys string, data []byte) {
	t.Helper()
	k, payload, _ := bytes.Cut(command, []byte{';'})
	raw, err := base64.StdEncoding.DecodeString(string(payload))
	if err != nil {
		t.Fatal(err)
	}
	return string(k), raw
}

// write makes a file.
func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func pngOf(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pixels are 40×30 of raw RGB.
var pixels = bytes.Repeat([]byte{1, 2, 3}, 40*30)

// What a program names comes as data, to the emulator as to viewers; what is for once
// goes, anything else stays.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := pngOf(t)
	name := "tandemux-medium-test-" + filepath.Base(filepath.Dir(dir))
	for _, c := range []struct {
		what, keys, path string
		content          []byte
		named            string // "" is the path
		want             []byte
		goes             bool
	}{
		{"a PNG", "a=T,i=3,f=100,t=f,q=1", dir + "/a.png", file, "", file, false},
		{"a part of a file", "f=100,t=f,S=" + itoa(len(file)) + ",O=5", dir + "/b", append([]byte("12345"), append(bytes.Clone(file), "rest"...)...), "", file, false},
		{"a temporary file", "f=24,s=40,v=30,t=t", dir + "/tty-graphics-protocol-1", pixels, "", pixels, true},
		{"one that stays", "f=24,s=40,v=30,t=f", dir + "/tty-graphics-protocol-2", pixels, "", pixels, false},
		{"one whose name does not say so", "f=100,t=t", dir + "/c.png", file, "", file, false},
		{"shared memory, of whole pages", "f=24,s=40,v=30,t=s", shm + "/" + name, append(bytes.Clone(pixels), make([]byte, 5000)...), "/" + name, pixels, true},
	} {
		write(t, c.path, c.content)
		t.Cleanup(func() { os.Remove(c.path) })
		if c.named == "" {
			c.named = c.path
		}
		r, cmd := reader(), command(c.keys, c.named)
		seqs := r.Read(cmd)
		if seqs == nil {
			t.Errorf("%s was not read", c.what)
			continue
		}
		keys, got := data(t, r.Take(cmd))
		if strings.Contains(keys, "o=z") {
			z, err := zlib.NewReader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			got, _ = io.ReadAll(z)
		}
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, want %d", c.what, len(got), len(c.want))
		}
		if strings.Contains(keys, c.path) || strings.Contains(keys, "S=") || !strings.Contains(keys, "t=d") {
			t.Errorf("%s became %q", c.what, keys)
		}
		if r.Take(cmd) != nil || r.size != 0 {
			t.Errorf("%s is taken twice", c.what)
		}
		var all []byte // of the pieces
		for i, s := range strings.Split(strings.TrimSuffix(string(seqs), "\x1b\\"), "\x1b\\") {
			k, payload, _ := strings.Cut(strings.TrimPrefix(s, "\x1b_G"), ";")
			if i == 0 && !strings.Contains(k, "q=2") || len(payload) > piece {
				t.Errorf("%s: piece %d is %.80q", c.what, i, s)
			}
			all = append(all, payload...)
		}
		if _, payload, _ := bytes.Cut(r2(c.keys, c.named, c.content, c.path, t), []byte{';'}); !bytes.Equal(all, payload) {
			t.Errorf("%s: viewers get other data", c.what)
		}
		if _, err := os.Lstat(c.path); os.IsNotExist(err) != c.goes {
			t.Errorf("%s: gone is %v, want %v", c.what, os.IsNotExist(err), c.goes)
		}
	}
}

// r2 reads a file that is made again, for the emulator.
func r2(keys, name string, content []byte, path string, t *testing.T) []byte {
	write(t, path, content)
	r, cmd := reader(), command(keys, name)
	r.Read(cmd)
	return r.Take(cmd)
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n > 9 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

// What a program may not have, or what is no picture, is not read, and stays.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir+"/a.png", pngOf(t))
	secret := write(t, dir+"/secret", bytes.Repeat([]byte("password"), 1000))
	small := write(t, dir+"/tty-graphics-protocol-small", []byte("few"))
	link, fifo := dir+"/link.png", dir+"/tty-graphics-protocol-fifo"
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := write(t, dir+"/tty-graphics-protocol-large", nil)
	if err := os.Truncate(large, maxRead+1); err != nil {
		t.Fatal(err)
	}
	other := write(t, dir+"/tty-graphics-protocol-text", []byte("not a PNG"))
	if err := os.Symlink("/proc/self", dir+"/proc"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, keys, name string }{
		{"a file that is no PNG", "f=100,t=f", secret},
		{"any file as raw pixels", "f=24,s=20,v=20,t=f", secret},
		{"any file as compressed pixels", "f=24,s=20,v=20,o=z,t=f", secret},
		{"a file with another name as a temporary one", "f=24,s=20,v=20,t=t", secret},
		{"less than its pixels", "f=24,s=20,v=20,t=t", small},
		{"a symbolic link", "f=100,t=f", link},
		{"a FIFO", "f=24,s=1,v=1,t=t", fifo},
		{"a directory", "f=100,t=f", dir},
		{"a device", "f=24,s=1,v=1,t=t", "/dev/zero"},
		{"a terminal", "f=24,s=1,v=1,t=t", "/dev/tty"},
		{"a file of the kernel's", "f=100,t=f", "/proc/self/environ"},
		{"one through a link", "f=100,t=f", dir + "/proc/environ"},
		{"one of /sys", "f=100,t=f", "/sys/kernel/mm/transparent_hugepage/enabled"},
		{"a relative path", "f=100,t=f", "a.png"},
		{"too much", "f=24,s=2400,v=2400,t=t", large},
		{"no text", "f=100,t=t", other},
		{"shared memory elsewhere", "f=100,t=s", "/../../" + file},
		{"shared memory with a slash", "f=100,t=s", "a/b"},
		{"nothing", "f=100,t=f", ""},
		{"a name with a zero", "f=100,t=f", file + "\x00x"},
		{"what is not there", "f=100,t=f", file + "x"},
		{"numbers that are none", "f=100,t=f,S=x", file},
	} {
		r := reader()
		if r.Read(command(c.keys, c.name)) != nil || r.size != 0 {
			t.Errorf("%s was read", c.what)
		}
	}
	for _, path := range []string{file, secret, small, link, fifo, large, other} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	for what, group := range map[string]func() int{"a program of root": func() int { return 1 }, "nobody": func() int { return 0 }, "one that has gone": func() int { return 1 << 30 }} {
		if os.Geteuid() == 0 && what == "a program of root" {
			continue
		}
		if (&Reader{Foreground: group}).Read(command("f=100,t=f", file)) != nil {
			t.Errorf("%s had it read", what)
		}
	}
}

// What hangs holds up its terminal for a moment, and few at a time.
func TestHanging(t *testing.T) {
	let := make(chan struct{})
	var all sync.WaitGroup
	for range maxHanging {
		all.Go(func() {
			if patiently(func() []byte { <-let; return []byte{1} }) != nil {
				t.Error("it was waited for")
			}
		})
	}
	all.Wait()
	if patiently(func() []byte { return []byte{1} }) != nil {
		t.Error("one more was begun")
	}
	close(let)
	for range maxHanging { // all places are given back
		hanging <- struct{}{}
	}
	for range maxHanging {
		<-hanging
	}
	if patiently(func() []byte { return []byte{1} }) == nil {
		t.Error("nothing is read any more")
	}
}

// Any command: nothing that is not whole sequences comes of it.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "tty-graphics-protocol-x")
	for _, keys := range []string{"a=T,f=24,s=2,v=2,t=t", "f=100,t=f", "t=s,S=9,O=1", "t=d", "a=q,i=1,t=f,f=32,o=z,s=1,v=1", "=,,t=,x"} {
		f.Add(keys+";"+base64.StdEncoding.EncodeToString([]byte(path)), []byte("\x89PNG\r\n\x1a\nxxxxxxxxxxxx"))
	}
	f.Fuzz(func(t *testing.T, cmd string, content []byte) {
		if os.WriteFile(path, content, 0o600) != nil {
			return
		}
		r := reader()
		out := r.Read([]byte(cmd))
		if became := r.Take([]byte(cmd)); (out == nil) != (became == nil) {
			t.Fatalf("viewers %q, the emulator %q", out, became)
		}
		if out != nil && (!bytes.HasPrefix(out, []byte("\x1b_G")) || !bytes.HasSuffix(out, []byte("\x1b\\")) || bytes.Count(out, []byte("\x1b_G")) != bytes.Count(out, []byte{0x1b})/2) {
			t.Fatalf("%q", out)
		}
	})
}
