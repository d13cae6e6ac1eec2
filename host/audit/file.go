package audit

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"tandemux/internal/statefile"
)

// file is a file of JSON lines that starts again when it is full, keeping
// the one before.
type file struct {
	path string
	most int64 // bytes

	mu   sync.Mutex
	file *os.File // nil when it could not be opened, or is closed
	size int64
	shut bool
	// failed is told, in a goroutine of its own, that lines are lost for want of
	// room; nil until then.
	failed func(error)
}

// probe reports whether there is room for lines again.
func (f *file) probe() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut {
		return nil
	}
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	n, err := f.file.Write([]byte(`{"msg":"lines are missing here: the disk was full"}` + "\n"))
	f.size += int64(n)
	return err
}

func (f *file) open() error {
	file, err := statefile.Open(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write implements io.Writer; line is one whole line of JSON.
func (f *file) Write(line []byte) (int, error) {
	safe := escapeControls(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut {
		return 0, os.ErrClosed
	}
	if f.file != nil && f.size > 0 && f.size+int64(len(safe)) > f.most {
		f.file.Close()
		f.file = nil
		if err := os.Rename(f.path, f.path+".1"); err != nil {
			return 0, err
		}
	}
	if f.file == nil { // full, or it went wrong the last time
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(safe)
	f.size += int64(n)
	if err != nil {
		if n > 0 { // half of a line is none
			f.file.Truncate(f.size - int64(n)) //nolint:errcheck // then it is half a line
			f.size -= int64(n)
		}
		if f.failed != nil {
			go f.failed(err)
		}
		return 0, err
	}
	return len(line), nil
}

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// escapeControls escapes what a terminal might obey, or show in another order,
// when the log is printed on it. JSON itself leaves all but C0 as it is; such
// characters can occur within strings only.
func escapeControls(line []byte) []byte {
	text, end := bytes.CutSuffix(line, []byte("\n"))
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if !bytes.ContainsFunc(text, odd) {
		return line
	}
	safe := make([]byte, 0, len(line)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case !odd(r):
			safe = append(safe, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		}
		text = text[n:]
	}
	if end {
		safe = append(safe, '\n')
	}
	return safe
}
