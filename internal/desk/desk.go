package desk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	rec "tandemux/ui/recording"

	"tandemux/ahp"
	"tandemux/internal/asciicast"
	"tandemux/internal/capture"
	"tandemux/internal/endpoint"
)

// Desk is what the interface needs of this machine: a program for links, an
// editor, a clipboard, files.
// It implements clipboard.Clipper, rec.Recorder and segments.Desk.
type Desk struct {
	place    endpoint.Endpoint
	clips    *clipper
	commands func() (open, copy string) // as configured
}

// New makes the desk of an interface. commands gives the configured programs that open
// links and set the clipboard, "" for the system's.
func New(p endpoint.Endpoint, commands func() (open, copy string)) Desk {
	return Desk{place: p, clips: &clipper{wait: clipWait}, commands: commands}
}

func (d Desk) Clip(text string, selected bool) (program string, running bool, err error) {
	_, set := d.commands()
	argv, primary := copyCommand(set)
	if len(argv) == 0 {
		return "", false, nil
	}
	if selected && primary != nil {
		_, _ = d.clips.clip(primary, text) // not every desktop has it, and the clipboard is what is spoken of
	}
	running, err = d.clips.clip(argv, text)
	return filepath.Base(argv[0]), running, err
}

// schemes are the links that are opened. Others could make the program that
// opens them do more than show something.
var schemes = []string{"http", "https", "ftp", "mailto", "file"}

// Open starts the program that shows an address. The address is an argument of
// its own and no shell reads it.
func (d Desk) Open(uri string) error {
	u, err := url.Parse(uri)
	if err != nil || strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New("it is no address")
	}
	if !slices.Contains(schemes, strings.ToLower(u.Scheme)) {
		return fmt.Errorf("links with %s: are not opened, only %s", u.Scheme, strings.Join(schemes, ", "))
	}
	if name, _ := os.Hostname(); u.Scheme == "file" && u.Host != "" && u.Host != "localhost" && u.Host != name {
		return fmt.Errorf("the file is on %s", u.Host)
	}
	set, _ := d.commands()
	argv := strings.Fields(set)
	if len(argv) == 0 {
		if argv, err = systemOpener(); err != nil {
			return err
		}
	}
	cmd := exec.Command(argv[0], append(argv[1:], uri)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives us and has no terminal
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	go cmd.Wait() //nolint:errcheck // reaped if it ends while we live
	return nil
}

func systemOpener() ([]string, error) {
	if runtime.GOOS == "darwin" {
		return []string{"open"}, nil
	}
	if _, err := exec.LookPath("xdg-open"); err == nil && (os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "") {
		return []string{"xdg-open"}, nil
	}
	return nil, errors.New(`there is no program for links here; set open-command = "firefox", say`)
}

// EditDir is where texts that are edited lie, below the runtime directory.
const EditDir = "edit"

// Edit puts text into a private file and gives the command that edits it.
func (d Desk) Edit(text string, line int) ([]string, error) {
	if d.place.Elsewhere() {
		return nil, errors.New("the editor would run on the host's machine, which has not got the text; save it instead")
	}
	path, err := d.toEdit("scrollback-*.txt", text)
	if err != nil {
		return nil, err
	}
	return editing(editor(), path, line), nil
}

// Lend puts text into a private file. On another machine's host it would be on the wrong
// machine.
func (d Desk) Lend(text string) (string, func(), error) {
	if d.place.Elsewhere() {
		return "", nil, nil
	}
	path, err := d.toEdit("selection-*.txt", text)
	return path, func() { os.Remove(path) }, err
}

// toEdit puts text into a private file, and removes what editors left.
func (d Desk) toEdit(pattern, text string) (path string, err error) {
	dir := filepath.Join(d.place.Dirs.Runtime, EditDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a place for it: %w", err)
	}
	// What editors left goes.
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > leftTime {
			os.Remove(path)
		}
	}
	f, err := os.CreateTemp(dir, pattern) // 0600
	if err != nil {
		return "", fmt.Errorf("make a file: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("write it: %w", err)
	}
	return f.Name(), nil
}

// leftTime is how old a file is that an editor left, as when the machine went
// down.
const leftTime = 7 * 24 * time.Hour

// editor is the person's, a command line as a shell reads it.
func editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := strings.TrimSpace(os.Getenv(name)); e != "" {
			return e
		}
	}
	return "vi"
}

// startsAtLine are the editors that take +LINE.
var startsAtLine = []string{"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "less", "joe", "ne", "mg"}

// editing is the command that edits a file and removes it when the editor has
// ended, however it did. The line is the editor's to find.
func editing(editor, path string, line int) []string {
	at := atLine(editor, line)
	script := `trap 'rm -f -- "$1"' EXIT; trap 'exit 129' HUP TERM; trap : INT; ` + editor + at + ` "$1"`
	return []string{"/bin/sh", "-c", script, "tandemux-edit", path}
}

// atLine is what an editor's command line says of the line, with a blank before it.
func atLine(editor string, line int) string {
	if name := filepath.Base(strings.Fields(editor)[0]); !slices.Contains(startsAtLine, name) {
		return ""
	}
	return " +" + strconv.Itoa(max(line, 1))
}

// EditFile gives the command that edits a file. On another machine that one's shell knows
// the editor.
func (d Desk) EditFile(path string, line int) ([]string, error) {
	by, at := editor(), ""
	switch {
	case d.place.Elsewhere():
		by = "${VISUAL:-${EDITOR:-vi}}"
	case line > 0:
		at = atLine(by, line)
	}
	script := `p=$1; case $p in "~/"*) p=$HOME/${p#"~/"};; -*) p=./$p;; esac; exec ` + by + at + ` "$p"`
	return []string{"/bin/sh", "-c", script, "tandemux-edit", path}, nil
}

// Save writes a new file that only this user can read.
func (d Desk) Save(path, text string) (string, error) {
	full, f, err := capture.CreateNew(path)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(full)
		return "", err
	}
	return full, nil
}

func (d Desk) Record(ctx context.Context, uri ahp.URI, path string) (rec.Recording, string, error) {
	full, f, err := capture.CreateNew(path)
	if err != nil {
		return nil, "", err
	}
	r, err := capture.Start(ctx, d.place, uri, f, asciicast.Header{Version: asciicast.V3})
	if err != nil {
		f.Close()
		os.Remove(full)
		return nil, "", err
	}
	return filed{r, f}, full, nil
}

// filed is a recording with the file that it writes.
type filed struct {
	*capture.Recording
	f *os.File
}

// Stop implements rec.Recording.
func (r filed) Stop() (time.Duration, error) {
	took, err := r.Recording.Stop()
	return took, errors.Join(err, r.f.Close())
}

// maxComposed bounds a message that was edited, in bytes.
const maxComposed = 1 << 20

func (d Desk) Compose(text string) (argv []string, read func() (string, error), err error) {
	if d.place.Elsewhere() {
		return nil, nil, errors.New("the editor would run on the host's machine, which has not got the text")
	}
	name, err := d.toEdit("message-*.md", text)
	if err != nil {
		return nil, nil, err
	}
	read = func() (string, error) {
		defer os.Remove(name)
		b, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read what was written: %w", err)
		}
		if len(b) > maxComposed {
			return "", fmt.Errorf("what was written has more than %d bytes", maxComposed)
		}
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	}
	// The editor's command line is read as a shell reads it.
	return []string{"sh", "-c", "exec " + editor() + ` "$1"`, "sh", name}, read, nil
}
