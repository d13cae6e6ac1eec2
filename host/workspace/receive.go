package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
)

// received is a body that has come in whole: short ones in memory, long ones in a file
// without a name.
type received struct {
	bytes []byte
	file  *os.File
	size  int64
	sum   Digest
}

// receive reads a body to its end, of at most limit bytes.
func (s *Store) receive(ctx context.Context, r io.Reader, limit int64) (*received, error) {
	h := sha256.New()
	in := io.TeeReader(&limited{ctx: ctx, r: r, left: limit, limit: limit}, h)
	b := make([]byte, packSmall)
	n, err := io.ReadFull(in, b)
	out := &received{bytes: b[:n], size: int64(n)}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
	case err != nil:
		return nil, err
	default:
		if out.file, err = os.CreateTemp(s.options.State, "receiving-"); err != nil {
			return nil, full(err)
		}
		if err := os.Remove(out.file.Name()); err != nil {
			out.close()
			return nil, err
		}
		if _, err = out.file.Write(b); err == nil {
			var more int64
			more, err = io.Copy(out.file, in)
			out.size += more
		}
		if err != nil {
			out.close()
			return nil, full(err)
		}
	}
	h.Sum(out.sum[:0])
	return out, nil
}

func (r *received) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
}

// reader reads it from its beginning.
func (r *received) reader() io.Reader {
	if r.file == nil {
		return bytes.NewReader(r.bytes)
	}
	return io.NewSectionReader(r.file, 0, r.size)
}

// add brings it into packs.
func (r *received) add(p *packer, have known) (Digest, int64, place, error) {
	if r.file == nil {
		return p.addBytes(r.bytes, have)
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return Digest{}, 0, place{}, err
	}
	return p.add(r.file, r.size, have)
}

// limited ends with ErrTooLarge behind its limit, and with its context.
type limited struct {
	ctx         context.Context
	r           io.Reader
	left, limit int64
}

func (l *limited) Read(b []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	if int64(len(b)) > l.left+1 {
		b = b[:l.left+1]
	}
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.limit)
	}
	return n, err
}
