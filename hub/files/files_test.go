package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/workspace/travel"
	"tandemux/hub/server"
	"tandemux/internal/soak"
)

func open(t *testing.T) (*server.Bus, *Store) {
	t.Helper()
	ctx := context.Background()
	bus, err := server.Start(ctx, server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	s, err := Open(ctx, bus.JS, 1)
	if err != nil {
		t.Fatal(err)
	}
	return bus, s
}

// noise is so many bytes, the same each time.
func noise(n int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{1}), n)
}

func loadOf(t *testing.T, n int64) travel.Load {
	t.Helper()
	sum := sha256.New()
	if _, err := io.Copy(sum, noise(n)); err != nil {
		t.Fatal(err)
	}
	return travel.Load{Kind: travel.Archive, Size: n, Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil))}
}

// TestPieces: what is stored is read by pieces, in any order; what is not as it should be is
// not stored, and does not take the place of what is.
func TestPieces(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	bus, s := open(t)
	l := loadOf(t, 3*PieceSize+1)
	if err := s.Put(ctx, "a.files", l, noise(l.Size)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{l.Size - 1, l.Size + 1, 0} {
		if err := s.Put(ctx, "a.files", l, noise(n)); err == nil {
			t.Errorf("%d bytes count as %d", n, l.Size)
		}
	}
	cut := errors.New("cut")
	if err := s.Put(ctx, "a.files", l, io.MultiReader(noise(PieceSize), broken{cut})); !errors.Is(err, cut) {
		t.Errorf("cut off: %v", err)
	}
	var got bytes.Buffer
	for at, n := uint64(0), 0; ; n++ {
		b, next, err := s.Piece(ctx, "a.files", at)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			if n != 4 {
				t.Errorf("there are %d pieces", n)
			}
			break
		}
		got.Write(b)
		at = next
	}
	if want, _ := io.ReadAll(noise(l.Size)); !bytes.Equal(got.Bytes(), want) {
		t.Error("the pieces are not what was stored")
	}
	if own, err := s.objects.GetBytes(ctx, "a.files"); err != nil || !bytes.Equal(own, got.Bytes()) { // which checks the digest
		t.Errorf("any client of the object store reads %d bytes, %v", len(own), err)
	}
	if _, _, err := s.Piece(ctx, "b.files", 0); !errors.Is(err, NotFound) {
		t.Errorf("of none: %v", err)
	}
	// A hub that dies leaves pieces that nothing names.
	for range 3 {
		if _, err := bus.JS.Publish(ctx, pieces+"orphan", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(ctx, "b.files", l, noise(l.Size)); err != nil {
		t.Fatal(err)
	}
	count := func() uint64 {
		i, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(pieces+"*"))
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		for _, each := range i.State.Subjects {
			n += each
		}
		return n
	}
	keep := func(name string) bool { return name == "a.files" }
	if err := s.Sweep(ctx, Youth, keep); err != nil || count() != 4+4+3 {
		t.Errorf("what is young: %v, %d", err, count())
	}
	if err := s.Sweep(ctx, 0, keep); err != nil || count() != 4 {
		t.Errorf("swept: %v, %d", err, count())
	}
	if err := s.Delete(ctx, "a.files", "a.files", "nothing"); err != nil || count() != 0 {
		t.Errorf("deleted: %v, %d", err, count())
	}
	if has, err := s.Has(ctx, "a.files"); has || err != nil {
		t.Errorf("it is there: %v", err)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// TestLarge: what is on its way is not in memory.
func TestLarge(t *testing.T) {
	ctx := t.Context()
	_, s := open(t)
	l := loadOf(t, int64(soak.Size(t, soak.Short(24, 128), 1024))<<20)
	var most uint64
	if err := s.Put(ctx, "large", l, &watched{from: noise(l.Size), most: &most}); err != nil {
		t.Fatal(err)
	}
	t.Logf("of %d MiB at most %d MiB were in memory", l.Size>>20, most>>20)
	if most == 0 || most > 100<<20 {
		t.Errorf("of %d MiB %d MiB were in memory", l.Size>>20, most>>20)
	}
	r, err := s.Get(ctx, "large")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, l.Reader(r)); err != nil {
		t.Error(err)
	}
}

// watched looks at the memory that is in use as it is read.
type watched struct {
	from io.Reader
	most *uint64
	n    int
}

func (w *watched) Read(b []byte) (int, error) {
	if w.n++; w.n%16 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*w.most = max(*w.most, m.HeapInuse)
	}
	return w.from.Read(b)
}
