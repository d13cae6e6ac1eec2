package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// chaosLines is how many lines a run prints, and chaosCode what it exits with.
	chaosLines = 120
	chaosCode  = 37
)

// runAll runs commands through everything, one after the other: each must have all
// of its output once and in order, and its exit code, as nobody would know that
// hosts came and went meanwhile.
func (x *chaos) runAll() {
	defer close(x.ran)
	var want strings.Builder
	for i := range chaosLines {
		fmt.Fprintln(&want, "run", i+1)
	}
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo run $i; sleep 0.01; done; exit %d", chaosLines, chaosCode)
	for {
		select {
		case <-x.typing:
			return
		default:
		}
		cmd := exec.Command(filepath.Join(x.bin, "tandemux"), "run", "--", "sh", "-c", script)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		begun := time.Now()
		err := cmd.Run()
		x.runs++
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() == chaosCode && out.String() == want.String() && errs.Len() == 0 {
			continue
		}
		// What a damaged journal costs is said, in the terminal or by the command.
		if x.damages.Load() > 0 && (strings.Contains(out.String(), "is lost") || strings.Contains(errs.String(), "lost")) {
			continue
		}
		x.Errorf("a run that took %v ended with %v: %q, and printed %d bytes, want %d:\n%s", time.Since(begun), err, errs.String(), out.Len(), want.Len(), out.String())
		return
	}
}
