package medium

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"slices"
	"strconv"
	"time"
)

// Bounds, in bytes unless they say otherwise.
const (
	maxRead    = 16 << 20
	maxSent    = 4 << 20 // compressed
	maxWaiting = 16 << 20
	maxName    = 4096
	patience   = time.Second
	maxHanging = 4 // reads
	piece      = 4096
)

// hanging has a place for each read.
var hanging = make(chan struct{}, maxHanging)

// Reader reads for one terminal. The zero Reader reads nothing.
type Reader struct {
	// Foreground gives the process group in the terminal's foreground; 0: unknown.
	Foreground func() int
	waiting    []waiting
	size       int
}

// waiting is a command whose data the emulator has not taken yet.
type waiting struct{ command, became []byte }

// Names reports whether a command's keys name data that is somewhere else.
func Names(keys []byte) bool {
	_, kind, _ := parse(keys)
	return kind == 'f' || kind == 't' || kind == 's'
}

// Read reads what a command names, as keys, a semicolon and base64, and gives commands
// for viewers, whole sequences that have the data in them and ask for no answer; nil where
// that can't be. Take gives the emulator the same.
func (r *Reader) Read(command []byte) (sequences []byte) {
	keys, payload, _ := bytes.Cut(command, []byte{';'})
	rest, kind, n := parse(keys)
	if kind != 'f' && kind != 't' && kind != 's' || r.Foreground == nil || !same(r.Foreground()) {
		return nil
	}
	name, err := base64.StdEncoding.AppendDecode(nil, payload)
	if err != nil {
		if name, err = base64.RawStdEncoding.AppendDecode(nil, payload); err != nil {
			return nil
		}
	}
	if len(name) == 0 || len(name) > maxName || bytes.IndexByte(name, 0) >= 0 {
		return nil
	}
	data := patiently(func() []byte { return read(kind, string(name), n) })
	if data == nil {
		return nil
	}
	if n.raw && !n.packed {
		data = pack(data)
		rest = append(rest, "o=z,"...)
	}
	text := base64.StdEncoding.EncodeToString(data)
	became := append(append(slices.Clone(rest), "t=d;"...), text...)
	if len(data) > maxSent || r.size+len(became) > maxWaiting {
		return nil
	}
	r.waiting = append(r.waiting, waiting{slices.Clone(command), became})
	r.size += len(became)
	return sequencesOf(rest, text)
}

// sequencesOf cuts a command into pieces, as the protocol has them.
func sequencesOf(keys []byte, text string) (out []byte) {
	out = append(append(append(out, "\x1b_G"...), keys...), "t=d,q=2,"...)
	for {
		n := min(len(text), piece)
		more := byte('1')
		if n == len(text) {
			more = '0'
		}
		out = append(append(append(out, "m="...), more, ';'), text[:n]...)
		out = append(out, "\x1b\\"...)
		if text = text[n:]; text == "" {
			return out
		}
		out = append(out, "\x1b_G"...)
	}
}

// Take gives what a command became that Read has read; nil for none.
func (r *Reader) Take(command []byte) []byte {
	i := slices.IndexFunc(r.waiting, func(w waiting) bool { return bytes.Equal(w.command, command) })
	if i < 0 {
		return nil
	}
	became := r.waiting[i].became
	r.size -= len(became)
	r.waiting = slices.Delete(r.waiting, i, i+1)
	return became
}

// Forget drops what no emulator takes any more.
func (r *Reader) Forget() { r.waiting, r.size = nil, 0 }

// numbers are the keys that say what is to be read.
type numbers struct {
	raw, packed            bool // f=24 or 32, o=z
	width, height, channel int
	size, offset           int // S, O
}

// pixels is how much data raw pixels have.
func (n *numbers) pixels() int { return n.width * n.height * n.channel }

// parse takes the keys apart: the medium, what counts for reading, and the rest, each
// with a comma behind it.
func parse(keys []byte) (rest []byte, kind byte, n numbers) {
	n.raw, n.channel = true, 4
	for pair := range bytes.SplitSeq(keys, []byte{','}) {
		k, v, ok := bytes.Cut(pair, []byte{'='})
		if !ok || len(k) != 1 || len(v) == 0 {
			continue
		}
		i, err := strconv.ParseUint(string(v), 10, 31)
		number := int(min(i, maxRead+1))
		keep := true
		switch k[0] {
		case 't':
			kind, keep = v[0], false
		case 'S':
			n.size, keep = number, false
		case 'O':
			n.offset, keep = number, false
		case 'm':
			keep = false
		case 'o':
			n.packed = v[0] == 'z'
		case 'f':
			n.raw, n.channel = number == 24 || number == 32, number/8
		case 's':
			n.width = number
		case 'v':
			n.height = number
		}
		if err != nil && slices.Contains([]byte("SOfsv"), k[0]) {
			return nil, 0, n
		}
		if keep {
			rest = append(append(rest, pair...), ',')
		}
	}
	return rest, kind, n
}

// patiently runs a read that may hang; nil when it does.
func patiently(do func() []byte) []byte {
	select {
	case hanging <- struct{}{}:
	default:
		return nil
	}
	done := make(chan []byte, 1)
	go func() {
		data := do()
		<-hanging // before whoever waits may begin another
		done <- data
	}()
	select {
	case data := <-done:
		return data
	case <-time.After(patience):
		return nil
	}
}

// pack compresses raw pixels.
func pack(data []byte) []byte {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil
	}
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		return nil
	}
	return b.Bytes()
}
