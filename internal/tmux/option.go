package tmux

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// looks are options that say how panes are drawn, which tandemux does its own way, and
// what is so here without them: the end of a program that failed stays to be read.
var looks = []string{
	"automatic-rename", "allow-rename", "pane-active-border-style", "pane-border-format", "pane-border-lines", "pane-border-status",
	"pane-border-style", "remain-on-exit", "window-active-style", "window-style",
}

func (a *answerer) setOption(c call) error {
	if len(c.args) == 0 {
		return errors.New(c.name + ": say which option")
	}
	if c.has('g') {
		return fmt.Errorf("%s -g: the options of all are the person's: config.toml has them", c.name)
	}
	if !slices.Contains(looks, c.args[0]) {
		return fmt.Errorf("option %s: %s", c.args[0], unknown)
	}
	if c.value('t') == "" {
		return nil
	}
	_, at, err := a.find(c.value('t'))
	if err != nil {
		return err
	}
	return a.near(at, c.name)
}

// showOptions knows none: what they would be is not what counts here.
func (a *answerer) showOptions(c call) error {
	if len(c.args) == 0 {
		return errors.New(c.name + ": say which option")
	}
	if c.has('q') {
		return nil
	}
	return fmt.Errorf("option %s: %s", c.args[0], unknown)
}

// showEnvironment: there are no variables but those that each program has.
func (a *answerer) showEnvironment(c call) error {
	if len(c.args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown variable: %s", c.args[0])
}

// maxClipboard bounds what is copied, in bytes.
const maxClipboard = 64 << 10

// loadBuffer copies to the clipboard, as a program in the pane may: other buffers there are
// none.
func (a *answerer) loadBuffer(c call) error {
	if !c.has('w') {
		return fmt.Errorf("%s without -w: %s", c.name, unknown)
	}
	if len(c.args) == 0 {
		return fmt.Errorf("%s: say what", c.name)
	}
	text, err := []byte(c.args[0]), error(nil)
	if c.name == "load-buffer" {
		text, err = a.read(c.args[0])
	}
	if err != nil {
		return err
	}
	if len(text) > maxClipboard {
		return fmt.Errorf("%s: more than %d bytes", c.name, maxClipboard)
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%s: the clipboard is reached by the terminal: %w", c.name, err)
	}
	defer tty.Close()
	_, err = tty.WriteString("\x1b]52;c;" + base64.StdEncoding.EncodeToString(text) + "\a")
	return err
}

// read reads a file, or standard input, no further than fits.
func (a *answerer) read(name string) ([]byte, error) {
	in := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("load-buffer: %s", strings.TrimPrefix(err.Error(), "open "))
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, maxClipboard+1))
}
