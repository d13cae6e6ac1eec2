//go:build linux

package clocktest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if os.Getenv("CLOCKTEST_SAYS") != "" {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			var boot unix.Timespec
			unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) //nolint:errcheck // it is there
			fmt.Println(time.Now().Unix(), int64(time.Since(start)/time.Second), boot.Sec)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var start = time.Now()

// TestShift: a program's wall, monotonic and boot clocks are set while it runs, each apart.
func TestShift(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CLOCKTEST_SAYS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	c := Start(t, cmd)
	defer cmd.Wait() //nolint:errcheck // its input ends
	defer in.Close()
	says := bufio.NewReader(out)
	read := func() (v [3]int64) {
		t.Helper()
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		line, err := says.ReadString('\n')
		if _, scanned := fmt.Sscan(line, &v[0], &v[1], &v[2]); err != nil || scanned != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return v
	}
	const day = 24 * 60 * 60
	first := read()
	if d := time.Now().Unix() - first[0]; d < -1 || d > 5 {
		t.Errorf("unshifted it is %d s behind", d)
	}
	for _, s := range []struct {
		by   func(time.Duration)
		long time.Duration
		want [3]int64
	}{
		{c.Wall, -48 * time.Hour, [3]int64{-2 * day, 0, 0}},
		{c.Sleep, 24 * time.Hour, [3]int64{-day, 0, day}},
		{c.Pass, 24 * time.Hour, [3]int64{0, day, 2 * day}},
	} {
		s.by(s.long)
		now := read()
		for i := range now {
			if d := now[i] - first[i] - s.want[i]; d < 0 || d > 60 {
				t.Errorf("clock %d is off by %d s", i, d)
			}
		}
	}
}
