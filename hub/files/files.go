package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/workspace/travel"
	"tandemux/internal/fault"
)

const (
	bucket = "tandemux_files"
	// pieces is the subject of a stored file's, by the number that JetStream gave it.
	pieces = "$O." + bucket + ".C."
	// PieceSize is how much is stored and sent at once, in bytes: as text within one of NATS's messages.
	PieceSize = 512 << 10
	// Youth is for how long what somebody may be writing is not swept.
	Youth = time.Hour
)

// NotFound is the error of a file that is not stored.
var NotFound = fault.New(http.StatusNotFound, "there is no such file")

// Store is the files of a fleet.
type Store struct {
	objects jetstream.ObjectStore
	stream  jetstream.Stream
}

// Open makes what is stored, where it is missing.
func Open(ctx context.Context, js jetstream.JetStream, replicas int) (*Store, error) {
	o, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucket, Storage: jetstream.FileStorage, Replicas: replicas})
	if err != nil {
		return nil, err
	}
	s, err := js.Stream(ctx, "OBJ_"+bucket)
	if err != nil {
		return nil, err
	}
	return &Store{o, s}, nil
}

// Put stores a file under a name, in place of what it had. What is not as the load says
// is not stored.
func (s *Store) Put(ctx context.Context, name string, l travel.Load, from io.Reader) error {
	meta := jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: PieceSize}}
	if _, err := s.objects.Put(ctx, meta, &whole{l.Reader(from)}); err != nil {
		var said interface{ StatusCode() int }
		if errors.As(err, &said) {
			return err
		}
		return fmt.Errorf("store files: %w", err)
	}
	return nil
}

// whole fills what it reads into, so that all pieces but the last are of one size.
type whole struct{ from io.Reader }

// Read implements io.Reader.
func (w *whole) Read(b []byte) (int, error) {
	n, err := io.ReadFull(w.from, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the next one says so
	}
	return n, err
}

// Has reports whether a file is stored.
func (s *Store) Has(ctx context.Context, name string) (bool, error) {
	_, err := s.objects.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Get reads a file; the caller closes it. It is checked as it is read.
func (s *Store) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := s.objects.Get(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, NotFound.Errorf("the files are not stored")
	}
	return r, err
}

// Piece reads the first piece of a file at or behind a place, 0 for the beginning; next is
// the place of what follows. The end is no bytes.
func (s *Store) Piece(ctx context.Context, name string, at uint64) (b []byte, next uint64, err error) {
	info, err := s.objects.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, 0, NotFound.Errorf("the files are not stored")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read files: %w", err)
	}
	m, err := s.stream.GetMsg(ctx, max(at, 1), jetstream.WithGetMsgSubject(pieces+info.NUID))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, at, nil
	case err != nil:
		return nil, 0, fmt.Errorf("read files: %w", err)
	}
	return m.Data, m.Sequence + 1, nil
}

// Delete removes files; what is not there is no error.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := s.objects.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return fmt.Errorf("delete files: %w", err)
		}
	}
	return nil
}

// Sweep removes files of some age that keep does not know, and pieces of none.
func (s *Store) Sweep(ctx context.Context, age time.Duration, keep func(name string) bool) error {
	all, err := s.objects.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return fmt.Errorf("list files: %w", err)
	}
	used := map[string]bool{}
	for _, o := range all {
		if !keep(o.Name) && time.Since(o.ModTime) > age {
			if err := s.Delete(ctx, o.Name); err != nil {
				return err
			}
			continue
		}
		used[o.NUID] = true
	}
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(pieces+"*"))
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	for subject := range info.State.Subjects {
		if used[strings.TrimPrefix(subject, pieces)] {
			continue
		}
		last, err := s.stream.GetLastMsgForSubject(ctx, subject)
		if err != nil || time.Since(last.Time) < age {
			continue
		}
		if err := s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return fmt.Errorf("delete files: %w", err)
		}
	}
	return nil
}
