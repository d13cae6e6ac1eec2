package output

import (
	"bytes"
	"unicode/utf8"

	"tandemux/internal/plaintext"
)

const (
	// HeadBytes and TailBytes are how much of one command's output is kept: its
	// beginning and its end. What lies between is counted.
	HeadBytes = 64 << 10
	TailBytes = 192 << 10
	// cutSearch is how far a line's end is looked for where output is cut.
	cutSearch = 4 << 10
)

// Command is what is kept of a command's output: its head and, once that is full, its
// tail.
type Command struct {
	Head, Tail Range
	Total      int64 // bytes
}

// Add adds what a store gave.
func (c *Command) Add(b []byte) {
	c.Total += int64(len(b))
	if n := min(HeadBytes-c.Head.Size(), len(b)); n > 0 {
		c.Head.Add(b[:n])
		b = b[n:]
	}
	c.Tail.Add(b)
	c.Tail.Cut(TailBytes)
}

// Parts is what is kept, and how many bytes between are not. Where some are missing,
// head ends and tail begins with whole lines, or at least characters.
func (c *Command) Parts() (head, tail []byte, omitted int64) {
	if int64(c.Held()) == c.Total {
		return c.append(nil), nil, 0
	}
	head, tail = c.Head.Bytes(), c.Tail.Bytes()
	if i := bytes.LastIndexByte(head[max(0, len(head)-cutSearch):], '\n'); i >= 0 {
		head = head[:max(0, len(head)-cutSearch)+i+1]
	} else if k := plaintext.Unfinished(head); k > 0 {
		head = head[:len(head)-k]
	}
	if i := bytes.IndexByte(tail[:min(len(tail), cutSearch)], '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head, tail, c.Total - int64(len(head)+len(tail))
}

// From is what is kept of the output behind its first n bytes, as in Parts but exact:
// what is missing between head and tail is counted from there.
func (c *Command) From(n int64) (head, tail []byte, omitted int64) {
	if n >= c.Total {
		return nil, nil, 0
	}
	if n < int64(c.Head.Size()) {
		head = c.Head.Append(nil, int(n), c.Head.Size())
		n = int64(c.Head.Size())
	}
	begins := c.Total - int64(c.Tail.Size())
	if n >= begins {
		return c.Tail.Append(head, int(n-begins), c.Tail.Size()), nil, 0
	}
	return head, c.Tail.Bytes(), begins - n
}

func (c *Command) append(dst []byte) []byte {
	return c.Tail.Append(c.Head.Append(dst, 0, c.Head.Size()), 0, c.Tail.Size())
}

// Held is how many bytes are kept.
func (c *Command) Held() int { return c.Head.Size() + c.Tail.Size() }

// Forget drops the output and keeps its size.
func (c *Command) Forget() { c.Head, c.Tail = Range{}, Range{} }
