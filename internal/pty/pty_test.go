package pty

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestStart: each program talks to its own terminal, however many start at once.
func TestStart(t *testing.T) {
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			cmd := exec.Command("sh", "-c", "stty size; read x; echo got $x")
			f, err := StartWithSize(cmd, &Winsize{Rows: uint16(i + 1), Cols: 100})
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			io.WriteString(f, "hello\n") //nolint:errcheck // the answer tells
			var got strings.Builder
			for lines := bufio.NewScanner(f); lines.Scan() && !strings.Contains(got.String(), "got hello"); {
				got.WriteString(lines.Text() + "\n")
			}
			if err := cmd.Wait(); err != nil || !strings.Contains(got.String(), "got hello") {
				t.Errorf("%q, %v", got.String(), err)
			}
		})
	}
	all.Wait()
}

// TestBackspace erases a character of several bytes whole, as in other terminals.
func TestBackspace(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read x; echo got $x")
	f, err := StartWithSize(cmd, &Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	io.WriteString(f, "aé日\x7f\x7fb\n") //nolint:errcheck // the answer tells
	var got strings.Builder
	for lines := bufio.NewScanner(f); lines.Scan() && !strings.Contains(got.String(), "got "); {
		got.WriteString(lines.Text() + "\n")
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(got.String(), "got ab\n") {
		t.Errorf("%q, %v", got.String(), err)
	}
}
