package jsonrpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Request is a request or notification of the peer.
type Request struct {
	// ID is the id as it was sent; nil for a notification.
	ID     json.RawMessage
	Method string
	// Params is nil when absent.
	Params json.RawMessage

	replied atomic.Bool
}

// IsNotification reports whether the peer expects no answer.
func (r *Request) IsNotification() bool { return r.ID == nil }

// Handler handles the peer's requests and notifications. It returns the result (nil
// becomes null) or an error. Both are dropped for a notification. It is called
// sequentially, in the order of arrival. ErrReplied means that Reply answers.
type Handler func(ctx context.Context, c *Conn, req *Request) (result any, err error)

// The defaults of Options.
const (
	DefaultQueueBytes    = 32 << 20
	DefaultQueueMessages = 16384
	DefaultDepth         = 128
)

const (
	// CloseWait is how long Close waits for the queue to get shorter, and how
	// long a peer that no longer reads may still be read from.
	CloseWait = time.Second
	// maxDrains is how many times in a row Close waits so.
	maxDrains = 10
	// slowHandler is how long a handler runs before messages are read ahead of it.
	slowHandler = 20 * time.Millisecond
)

// Options bounds a connection. Zero values mean the defaults.
type Options struct {
	MaxQueueBytes    int // bytes waiting to be written
	MaxQueueMessages int // messages waiting to be written
	MaxDepth         int // nesting of arrays and objects in a received message
	// Raw, when set, gets each received message first and reports whether it has
	// handled it. It runs on the handlers' goroutine; msg is valid until it returns.
	Raw func(msg []byte) bool
	// Beside says that the peer's messages may have bytes beside the JSON (see Beside).
	Beside bool
	// Wrote, when set, is called after each message that was written, when
	// Queued no longer counts it. It must not block or call the Conn.
	Wrote func()
	// GaveUp, when set, is called with the id of a request whose Call ended with its context.
	GaveUp func(id int64)
	Log    *slog.Logger // nil means discard
}

// Conn is one connection. All methods may be called from any goroutine.
type Conn struct {
	t       Transport
	handler Handler
	o       Options
	log     *slog.Logger
	queue   *queue

	// Run's goroutine owns the following.
	after  []func()
	extra  []byte        // see Extra
	ahead  *intake       // source of messages while, and after, a handler is slow; else nil
	beside chan struct{} // signals that the goroutine which fills ahead has ended

	calls calls

	// The end.
	closeOnce sync.Once
	closing   chan struct{} // closed once the following are set
	code      int
	reason    string
	cause     error // what Run returns
	done      chan struct{}
}

// New makes a connection; the caller must call Run. h may be nil for a peer that serves
// nothing.
func New(t Transport, h Handler, o Options) *Conn {
	o.MaxQueueBytes = cmp.Or(o.MaxQueueBytes, DefaultQueueBytes)
	o.MaxQueueMessages = cmp.Or(o.MaxQueueMessages, DefaultQueueMessages)
	o.MaxDepth = cmp.Or(o.MaxDepth, DefaultDepth)
	if h == nil {
		h = func(context.Context, *Conn, *Request) (any, error) {
			return nil, &Error{Code: CodeMethodNotFound, Message: "nothing is served here"}
		}
	}
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Conn{
		t: t, handler: h, o: o, log: log,
		queue:   newQueue(t, o),
		calls:   calls{pending: map[int64]func(json.RawMessage, error){}},
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
}

// handlerOf is the key that marks the context of a connection's handlers.
type handlerOf struct{ c *Conn }

// Run reads and handles messages until the connection ends, by Close, by the
// peer, by an error or by ctx, and closes the transport. It returns nil after
// Close, ctx's error after the end of ctx, and a *CloseError when the peer has
// closed. It may be called once.
func (c *Conn) Run(ctx context.Context) (err error) {
	defer context.AfterFunc(ctx, func() { c.shut(1001, "going away", ctx.Err()) })()
	hctx, cancel := context.WithCancel(context.WithValue(ctx, handlerOf{c}, true))
	defer cancel()
	written, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		if err := c.queue.run(); err != nil {
			c.unwritable(err)
		}
	}()
	go func() {
		defer close(closed)
		<-c.closing
		cancel()
		c.queue.close()
		c.drain(written)
		if err := c.t.Close(c.code, c.reason); err != nil {
			c.log.Debug("close connection", "err", err)
		}
	}()
	returned := false
	defer func() {
		if !returned { // a handler has panicked, or ended its goroutine
			c.shut(1011, "internal error", errors.New("handler panicked"))
		}
		c.shut(1000, "", err)
		<-closed
		<-written
		if c.beside != nil {
			<-c.beside
		}
		c.endCalls()
		close(c.done)
		err = c.cause
	}()
	err = c.read(hctx, cancel)
	returned = true
	return err
}

// read is the loop of Run. While a handler is slow, a second goroutine reads messages into an
// intake, so that the connection notices when its peer is gone. The loop takes messages from
// there until none waits; then it reads the transport itself again, since a second goroutine
// would delay each key.
func (c *Conn) read(ctx context.Context, cancel context.CancelFunc) error {
	in, ended := newIntake(), make(chan struct{}, 1)
	defer in.fail(ErrClosed)
	watch := time.AfterFunc(time.Hour, func() {
		defer func() { ended <- struct{}{} }()
		for {
			msg, err := c.t.Read(context.Background())
			if err != nil {
				cancel()
				in.fail(err)
				return
			}
			if !in.put(msg) {
				return
			}
		}
	})
	watch.Stop()
	for {
		msg, err := c.next()
		if err != nil {
			return err
		}
		if c.o.Raw != nil && c.o.Raw(msg) {
			continue
		}
		if c.o.Beside {
			msg, c.extra = cut(msg)
		}
		m, bad := parse(msg, c.o.MaxDepth)
		// Only a request's handler may take long. Notifications, such as typed
		// keys, set no timer, as that wakes a thread and delays them.
		watched := c.ahead == nil && m.ID != nil && m.Method != ""
		if watched {
			watch.Reset(slowHandler)
		}
		c.handle(ctx, m, bad)
		if watched && !watch.Stop() {
			c.ahead, c.beside = in, ended
		}
	}
}

// next waits until the queue is within its bounds, so that a peer that does not read its
// answers has to wait, and returns the next message.
func (c *Conn) next() ([]byte, error) {
	if c.queue.full() {
		select {
		case <-c.queue.room():
		case <-c.closing:
		}
	}
	select {
	case <-c.closing:
		return nil, ErrClosed
	default:
	}
	if c.ahead != nil {
		msg, last, err := c.ahead.get()
		if last {
			<-c.beside
			c.ahead, c.beside = nil, nil
		}
		return msg, err
	}
	return c.t.Read(context.Background())
}

func (c *Conn) handle(ctx context.Context, m message, bad *Error) {
	switch {
	case bad != nil:
		c.log.Debug("message refused", "code", bad.Code)
		if m.ID != nil || m.Method == "" || m.badID {
			c.answer(m.ID, nil, bad)
		}
	case m.Method == "":
		c.answered(m)
	default:
		req := &Request{ID: m.ID, Method: m.Method, Params: m.Params}
		result, err := c.handler(ctx, c, req)
		switch {
		case errors.Is(err, ErrReplied):
		case req.IsNotification():
			if err != nil {
				c.log.Debug("notification refused", "method", m.Method, "err", err)
			}
		default:
			c.Reply(req, result, err)
		}
		for len(c.after) > 0 {
			fns := c.after
			c.after = nil
			for _, fn := range fns {
				fn()
			}
		}
	}
}

// answer queues the answer to a request. Answers are never refused for lack of room; next
// waits instead.
func (c *Conn) answer(id json.RawMessage, result any, err error) error {
	it := item{answer: true}
	if apart, is := result.(Beside); is && err == nil {
		it.msg, it.rest = apart.answer(id)
	} else if pieces, is := result.(Pieces); is && err == nil {
		it.msg, it.rest = beginReply(id, resultMember, 0), append(pieces[:len(pieces):len(pieces)], []byte(replyEnd))
	} else {
		it.msg = encodeReply(id, result, err)
	}
	if err := c.queue.add(it); err != nil {
		return err
	}
	c.Flush()
	return nil
}

// Flush writes the queue without blocking: on the caller's goroutine if the queue is small and
// the transport takes it at once, otherwise on the writer goroutine.
func (c *Conn) Flush() { c.queue.flush() }

// Start has the writer goroutine write the queue.
func (c *Conn) Start() { c.queue.start() }

// drain waits CloseWait for the writer to empty the queue, and again while it makes
// progress, at most maxDrains times.
func (c *Conn) drain(written <-chan struct{}) {
	for range maxDrains {
		before := c.Queued()
		select {
		case <-written:
			return
		case <-time.After(CloseWait):
		}
		if c.Queued() >= before {
			return
		}
	}
}

// unwritable ends the connection after a failed write. For a moment, what the peer has sent
// before is still handled.
func (c *Conn) unwritable(err error) {
	c.queue.close()
	c.queue.discard()
	select {
	case <-c.closing:
	case <-time.After(CloseWait):
		c.shut(1001, "", err)
	}
}

// Send queues an encoded message, which must not be changed afterwards. It never blocks. It
// returns ErrQueueFull if a bound would be exceeded; a message larger than the bound passes if
// nothing else waits.
func (c *Conn) Send(raw []byte) error {
	err := c.Put(raw)
	if err == nil {
		c.Flush()
	}
	return err
}

// Put queues a message without writing it, so that several go in one packet. The caller calls
// Flush, or Send for another message, after it.
func (c *Conn) Put(raw []byte) error { return c.PutShared(raw, nil) }

// Shared is the owner of a message that several connections may send.
type Shared interface {
	// Release is called once for each PutShared that succeeded, when that
	// connection has written the message or will not. It must not block.
	Release()
}

// PutShared is Put for a message whose memory is reused after all connections have released
// it. After an error it is not released.
func (c *Conn) PutShared(raw []byte, s Shared) error {
	return c.queue.add(item{msg: raw, shared: s})
}

func (c *Conn) Notify(method string, params any) error {
	msg, err := encodeRequest(0, method, params)
	if err != nil {
		return err
	}
	return c.Send(msg)
}

// Reply answers req, whose handler returns ErrReplied. It may be called at any time, from any
// goroutine, and never blocks. Only the first answer counts; a notification gets none.
func (c *Conn) Reply(req *Request, result any, err error) error {
	if req.IsNotification() || req.replied.Swap(true) {
		return nil
	}
	return c.answer(req.ID, result, err)
}

// Extra is the bytes beside the JSON of the message that is being handled. Only handlers may
// call it; the bytes are valid until the handler returns.
func (c *Conn) Extra() []byte { return c.extra }

// AfterReply, called by a Handler, runs fn right after the reply was queued
// and before the next message is handled.
func (c *Conn) AfterReply(fn func()) { c.after = append(c.after, fn) }

// Queued is the number of bytes waiting to be written.
func (c *Conn) Queued() int {
	all, _ := c.queue.size()
	return all
}

// Unasked is Queued without answers.
func (c *Conn) Unasked() int {
	_, unasked := c.queue.size()
	return unasked
}

// Drained returns a channel that is closed once the queue is at most half full, or the
// connection has ended.
func (c *Conn) Drained() <-chan struct{} { return c.queue.room() }

// Discard drops everything queued that is not being written yet, answers too,
// and returns the number of messages.
func (c *Conn) Discard() int { return c.queue.discard() }

// Close ends the connection. Nothing more is accepted. What is queued is still written, as long
// as the peer takes some of it each CloseWait; then the transport is closed with code and
// reason. Close does not wait for that; Done does. Later calls do nothing. A handler that wants
// its answer delivered calls Close through AfterReply.
func (c *Conn) Close(code int, reason string) error {
	c.shut(code, reason, nil)
	return nil
}

// shut is Close; cause is what Run returns.
func (c *Conn) shut(code int, reason string, cause error) {
	c.closeOnce.Do(func() {
		c.code, c.reason, c.cause = code, reason, cause
		c.queue.close()
		close(c.closing)
	})
}

// Done is closed when Run has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }
