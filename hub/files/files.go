package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/workspace/travel"
	"tandemux/internal/fault"
)

const (
	bucket = "tandemux_files"
	// pieces is the subject of a stored file's, by the number that JetStream gave it.
	pieces = "$O." + bucket + ".C."
	// names is that of what is known of one, by its name.
	names = "$O." + bucket + ".M."
	// PieceSize is how much is stored and sent at once, in bytes: as text within one of NATS's messages.
	PieceSize = 512 << 10
	// diskTime is how long a piece may take.
	diskTime = time.Minute
	// Youth is for how long what somebody may be writing is not swept.
	Youth = time.Hour
)

// NotFound is the error of a file that is not stored.
var NotFound = fault.New(http.StatusNotFound, "there is no such file")

// Store is the files of a fleet.
type Store struct {
	js      jetstream.JetStream
	objects jetstream.ObjectStore
	stream  jetstream.Stream
}

// Open makes what is stored, where it is missing.
func Open(ctx context.Context, js jetstream.JetStream, replicas int) (*Store, error) {
	// As js.CreateObjectStore does it, but for AllowDirect: a replica that lags would not have
	// what was stored just now.
	s, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "OBJ_" + bucket, Subjects: []string{pieces + ">", names + ">"}, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		Replicas: replicas, AllowRollup: true,
	})
	if err != nil {
		return nil, err
	}
	o, err := js.ObjectStore(ctx, bucket)
	return &Store{js, o, s}, err
}

// Put stores a file under a name, in place of what it had. What is not as the load says
// is not stored. The object store's own Put does not wait for the disk, and fails where that
// is slower than who sends; this writes the same.
func (s *Store) Put(ctx context.Context, name string, l travel.Load, from io.Reader) error {
	id := rand.Text()
	chunks, err := s.write(ctx, pieces+id, l.Reader(from))
	if err == nil {
		err = s.name(ctx, name, id, l, chunks)
	}
	if err == nil {
		return nil
	}
	s.stream.Purge(context.WithoutCancel(ctx), jetstream.WithPurgeSubject(pieces+id)) //nolint:errcheck // Sweep does
	if fault.Status(err) != 0 {
		return err
	}
	return fmt.Errorf("store files: %w", err)
}

// write stores pieces, one after the other.
func (s *Store) write(ctx context.Context, subject string, from io.Reader) (chunks uint32, err error) {
	b := make([]byte, PieceSize)
	for {
		n, err := io.ReadFull(from, b)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return 0, err
		}
		if n > 0 {
			if err := s.publish(ctx, &nats.Msg{Subject: subject, Data: b[:n]}); err != nil {
				return 0, err
			}
			chunks++
		}
		if last {
			return chunks, nil
		}
	}
}

// name makes a name that of the pieces that were stored, and removes those that had it.
func (s *Store) name(ctx context.Context, name, id string, l travel.Load, chunks uint32) error {
	before, err := s.objects.GetInfo(ctx, name)
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(l.Digest, "sha256:"))
	if err != nil {
		return err
	}
	text, err := json.Marshal(jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: PieceSize}}, Bucket: bucket, NUID: id,
		Size: uint64(l.Size), Chunks: chunks, Digest: "SHA-256=" + base64.URLEncoding.EncodeToString(sum),
	})
	if err != nil {
		return err
	}
	m := nats.NewMsg(names + base64.URLEncoding.EncodeToString([]byte(name)))
	m.Data = text
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	if err := s.publish(ctx, m); err != nil || before == nil {
		return err
	}
	s.stream.Purge(ctx, jetstream.WithPurgeSubject(pieces+before.NUID)) //nolint:errcheck // Sweep does
	return nil
}

// publish stores a message, and waits until it is.
func (s *Store) publish(ctx context.Context, m *nats.Msg) error {
	ctx, done := context.WithTimeout(ctx, diskTime)
	defer done()
	_, err := s.js.PublishMsg(ctx, m)
	return err
}

func (s *Store) Has(ctx context.Context, name string) (bool, error) {
	_, err := s.objects.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// subject is that of a file's pieces.
func (s *Store) subject(ctx context.Context, name string) (string, error) {
	info, err := s.objects.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", NotFound.Errorf("the files are not stored")
	}
	if err != nil {
		return "", fmt.Errorf("read files: %w", err)
	}
	return pieces + info.NUID, nil
}

// Get reads a file, a piece at a time: who takes it slowly costs no memory.
func (s *Store) Get(ctx context.Context, name string) (io.Reader, error) {
	subject, err := s.subject(ctx, name)
	return &Pieces{Next: func(at uint64) ([]byte, uint64, error) { return s.piece(ctx, subject, at) }}, err
}

// Pieces reads what comes piece by piece: Next gives the one at a place, none at the end,
// and the place of what follows.
type Pieces struct {
	Next func(at uint64) (piece []byte, next uint64, err error)
	at   uint64
	got  bytes.Reader
}

func (p *Pieces) Read(b []byte) (int, error) {
	if p.got.Len() == 0 {
		piece, next, err := p.Next(p.at)
		if err != nil {
			return 0, err
		}
		if len(piece) == 0 {
			return 0, io.EOF
		}
		p.at = next
		p.got.Reset(piece)
	}
	return p.got.Read(b)
}

// Piece reads the first piece of a file at or behind a place, 0 for the beginning; next is
// the place of what follows. The end is no bytes.
func (s *Store) Piece(ctx context.Context, name string, at uint64) (b []byte, next uint64, err error) {
	subject, err := s.subject(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	return s.piece(ctx, subject, at)
}

func (s *Store) piece(ctx context.Context, subject string, at uint64) (b []byte, next uint64, err error) {
	m, err := s.stream.GetMsg(ctx, max(at, 1), jetstream.WithGetMsgSubject(subject))
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
