package clipboard

import "time"

const (
	// maxBuffers bounds the paste buffers; the oldest go.
	maxBuffers = 50
	// maxBuffered bounds what they hold together, in bytes; the oldest go.
	maxBuffered = 16 << 20
)

// buffer is what was copied once.
type buffer struct {
	id   int
	text string
	at   time.Time
}

// buffers are what was copied, the newest first.
type buffers struct {
	list  []buffer
	bytes int
	last  int // id
}

// add puts text in front; what was copied just before is not kept twice.
func (b *buffers) add(text string, now time.Time) {
	if text == "" || len(text) > maxBuffered {
		return
	}
	if len(b.list) > 0 && b.list[0].text == text {
		b.list[0].at = now
		return
	}
	b.last++
	b.list = append([]buffer{{id: b.last, text: text, at: now}}, b.list...)
	b.bytes += len(text)
	for len(b.list) > maxBuffers || b.bytes > maxBuffered {
		n := len(b.list) - 1
		b.bytes -= len(b.list[n].text)
		b.list[n] = buffer{}
		b.list = b.list[:n]
	}
}

// find gives a buffer, the newest for 0.
func (b *buffers) find(id int) (buffer, bool) {
	for _, x := range b.list {
		if id == 0 || x.id == id {
			return x, true
		}
	}
	return buffer{}, false
}

func (b *buffers) remove(id int) {
	for i, x := range b.list {
		if x.id == id {
			b.bytes -= len(x.text)
			b.list = append(b.list[:i:i], b.list[i+1:]...)
			return
		}
	}
}
