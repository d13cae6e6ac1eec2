package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/front"
)

// The stream, and the subjects of the hub's records.
const (
	Stream  = "AUDIT"
	subject = "audit.hub"
)

const (
	keep     = 366 * 24 * time.Hour
	maxBytes = 1 << 30
	maxText  = 512 // bytes of a member
	noteTime = 3 * time.Second
)

// Record is one thing that was done or refused.
type Record struct {
	Seq     uint64    `json:"seq" doc:"Counts the records, upwards"`
	Time    time.Time `json:"time"`
	Who     string    `json:"who" doc:"A person's or a token's name; empty: nobody that is known"`
	Groups  []string  `json:"groups,omitempty" doc:"Those that the identity provider told of them"`
	What    string    `json:"what" doc:"Such as \"sign in\" or \"task create\""`
	On      string    `json:"on,omitempty" doc:"What it was done to"`
	Outcome string    `json:"outcome" doc:"done, refused, or failed"`
	Remote  string    `json:"remote,omitempty" doc:"The address that it came from"`
	// Of what a host tells of itself.
	Host   string          `json:"host,omitempty" doc:"The host that it was done on; empty: the hub"`
	Person string          `json:"person,omitempty" doc:"Who a host was told that is, by the hub"`
	Detail json.RawMessage `json:"detail,omitempty" doc:"The host's own record, as it wrote it"`
}

// Log is the hub's.
type Log struct {
	js  jetstream.JetStream
	log *slog.Logger
	now func() time.Time
}

// Open makes the stream where there is none.
func Open(ctx context.Context, js jetstream.JetStream, replicas int, log *slog.Logger) (*Log, error) {
	_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: Stream, Description: "who did what", Subjects: []string{"audit.>"}, Storage: jetstream.FileStorage,
		MaxAge: keep, MaxBytes: maxBytes, MaxMsgSize: 16 << 10, Discard: jetstream.DiscardOld, DenyDelete: true, Replicas: max(replicas, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("open the audit stream: %w", err)
	}
	return &Log{js, log, time.Now}, nil
}

// Note keeps a record, whose time it sets.
func (l *Log) Note(r Record) {
	r.Time = l.now().UTC()
	for _, p := range []*string{&r.Who, &r.What, &r.On, &r.Outcome, &r.Remote} {
		*p = clean(*p)
	}
	r.Groups = append([]string(nil), r.Groups[:min(len(r.Groups), 64)]...)
	for i := range r.Groups {
		r.Groups[i] = clean(r.Groups[i])[:min(len(clean(r.Groups[i])), 128)]
	}
	text, err := json.Marshal(r)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), noteTime)
		defer cancel()
		_, err = l.js.Publish(ctx, subject, text)
	}
	if err != nil {
		l.log.Error("keep an audit record", "err", err, "who", r.Who, "what", r.What, "on", r.On, "outcome", r.Outcome, "remote", r.Remote)
	}
}

// clean makes a text that may be shown: printable, and not long.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// OfRequest is the record of a request that was answered.
func OfRequest(p front.Person, r *http.Request, d front.Deed) Record {
	outcome := "done"
	switch status := d.Status; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests:
		outcome = "refused"
	case status >= 400:
		outcome = "failed"
	}
	if d.What == "" {
		d.What, d.On = r.Method, r.URL.Path
	}
	return Record{Who: p.Name, Groups: p.Groups, What: d.What, On: d.On, Outcome: outcome, Remote: Remote(r)}
}

// Remote is the address that a request came from, without its port.
func Remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "" // the unix socket
	}
	return host
}

// Read gives the records since a time, oldest first, those that there are; with follow it
// goes on with new ones until ctx ends.
func (l *Log) Read(ctx context.Context, since time.Time, follow bool, each func(Record) error) error {
	s, err := l.js.Stream(ctx, Stream)
	if err != nil {
		return fmt.Errorf("read the audit stream: %w", err)
	}
	last := s.CachedInfo().State.LastSeq
	if last == 0 && !follow {
		return nil
	}
	start := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy}
	if !since.IsZero() {
		start = jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since}
	}
	c, err := s.OrderedConsumer(ctx, start)
	if err != nil {
		return fmt.Errorf("read the audit stream: %w", err)
	}
	defer func() { // It would stay for five minutes, and there may be so many.
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
		defer cancel()
		l.js.DeleteConsumer(short, Stream, c.CachedInfo().Name) //nolint:errcheck // as above
	}()
	if info, err := c.Info(ctx); err == nil && info.NumPending == 0 && !follow {
		return nil
	}
	messages, err := c.Messages()
	if err != nil {
		return fmt.Errorf("read the audit stream: %w", err)
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	for {
		m, err := messages.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read the audit stream: %w", err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("read the audit stream: %w", err)
		}
		if r, ok := read(m.Subject(), m.Data()); ok {
			r.Seq = meta.Sequence.Stream
			if err := each(r); err != nil {
				return err
			}
		}
		if !follow && meta.Sequence.Stream >= last {
			return nil
		}
	}
}

// read is the record of a message. What hosts tell is cleaned here, as the hub's own was.
func read(subject string, data []byte) (r Record, ok bool) {
	host, is := strings.CutPrefix(subject, hostSubject)
	if !is {
		return r, json.Unmarshal(data, &r) == nil
	}
	r, ok = ofHost(host, data)
	for _, p := range []*string{&r.Who, &r.Person, &r.What, &r.On, &r.Remote} {
		*p = clean(*p)
	}
	return r, ok
}

// Serve answers with records as lines of JSON: ?since=RFC3339, ?follow=1.
func (l *Log) Serve(w http.ResponseWriter, r *http.Request) {
	var since time.Time
	if text := r.FormValue("since"); text != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			front.Refuse(w, http.StatusBadRequest, "bad_request", "since is a time such as 2026-01-31T12:00:00Z")
			return
		}
	}
	follow := r.FormValue("follow") == "1"
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, flush := json.NewEncoder(w), http.NewResponseController(w)
	if follow {
		w.WriteHeader(http.StatusOK)
		flush.Flush() //nolint:errcheck // the next write says so
	}
	err := l.Read(r.Context(), since, follow, func(one Record) error {
		if err := out.Encode(one); err != nil {
			return err
		}
		if follow {
			return flush.Flush()
		}
		return nil
	})
	if err != nil && r.Context().Err() == nil {
		l.log.Warn("read the audit stream", "err", err)
		panic(http.ErrAbortHandler) // the answer is not whole, and must not look so
	}
}
