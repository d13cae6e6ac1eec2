package terminal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"runtime"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/host/terminal/medium"
)

// A picture in a file, a temporary one, or shared memory is there for who looks on from
// elsewhere and for who comes later, when the file is gone; the program hears the truth.
func TestNamedPictures(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads files by what Linux tells of them")
	}
	t.Parallel()
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 40, 32))); err != nil {
		t.Fatal(err)
	}
	shm := fmt.Sprintf("tandemux-test-%d", os.Getpid())
	for path, data := range map[string][]byte{
		dir + "/a.png": b.Bytes(), dir + "/tty-graphics-protocol-b": make([]byte, 16*16*4), "/dev/shm/" + shm: make([]byte, 4096),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Skipf("make %s: %v", path, err)
		}
		t.Cleanup(func() { os.Remove(path) })
	}
	name := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	script := fmt.Sprintf(`stty raw -echo
		ask() { printf "$1"; IFS= read -rs -d '\' x; printf '<%%s>\r\n' "${x#?_G}"; }
		ask '\033_Ga=q,i=1,f=100,t=f;%[1]s\033\\'
		ask '\033_Ga=T,i=2,f=100,t=f;%[1]s\033\\'
		ask '\033_Ga=T,i=3,f=32,s=16,v=16,t=t;%[2]s\033\\'
		ask '\033_Ga=T,i=4,f=32,s=8,v=16,t=s;%[3]s\033\\'
		ask '\033_Ga=T,i=5,f=100,t=f;%[4]s\033\\'; sleep 0.1`, name(dir+"/a.png"), name(dir+"/tty-graphics-protocol-b"), name(shm), name("/etc/passwd"))
	run := func(media *medium.Reader) *holder {
		return start(t, script, startOptions{config: func(c *Config) {
			o := emulator.Options{Cols: c.Cols, Rows: c.Rows}
			if c.Media = media; media != nil {
				o.Read = media.Take
			}
			c.Emulator = native.New(o)
			c.Emulator.SetColors(emulator.Colors{Pictures: true})
		}})
	}
	h := run(&medium.Reader{})
	h.exited()
	for _, answer := range []string{"<i=1;OK", "<i=2;OK", "<i=3;OK", "<i=4;OK", "<i=5;EBADF:"} {
		h.see(answer)
	}
	live := native.New(emulator.Options{Cols: 80, Rows: 24})
	live.Write([]byte(h.output()))
	want := emutest.Dump(h.term.emu)
	if d := emutest.Diff(emutest.Dump(live), want); d != "" {
		t.Errorf("a viewer sees something else:\n%s", d)
	}
	if n := strings.Count(emutest.Pictures(live), "\n"); n != 4 || strings.Contains(emutest.Pictures(live), "lost") {
		t.Errorf("it shows\n%s", emutest.Pictures(live))
	}
	_, _, parts := h.term.Content(MaxWire)
	late := native.New(emulator.Options{Cols: 80, Rows: 24})
	late.Write([]byte(text(parts)))
	if d := emutest.Diff(emutest.Dump(late), want); d != "" {
		t.Errorf("a late viewer sees something else:\n%s", d)
	}
	for path, stays := range map[string]bool{dir + "/a.png": true, dir + "/tty-graphics-protocol-b": false, "/dev/shm/" + shm: false} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	sealed := run(nil) // as in a sandbox
	sealed.exited()
	sealed.see("<i=1;EBADF:")
	sealed.see("<i=2;EBADF:")
}
