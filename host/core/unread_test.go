package core

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/outbox"
	"tandemux/internal/jsonrpc"
)

// line is a connection whose peer reads when it is told to.
type line struct {
	jsonrpc.Transport
	sent []string
	deaf bool
}

func (l *line) Pings() bool { return !l.deaf }

func (l *line) WriteMore(msg []byte, _ bool) error {
	l.sent = append(l.sent, string(msg))
	return nil
}

func (l *line) TryWrite(msg []byte, more bool) (jsonrpc.Tried, error) {
	return jsonrpc.Written, l.WriteMore(msg, more)
}

func watching(c *Core, l *line, channels ...*Channel) *Link {
	link := NewLink(&auth.Principal{ID: "peer"}, slog.New(slog.DiscardHandler))
	link.Out = outbox.New(l, nil, jsonrpc.Options{}, 1<<20)
	c.Locked(func(tx Tx) {
		for _, ch := range channels {
			tx.Subscribe(ch, link)
		}
	})
	return link
}

// FuzzUnread plays a peer that watches two channels, a third one by what a list says of
// it, and sends when it likes. What the host makes of that is compared with what the peer
// has read: it knows a change from the ping on that came with it.
func FuzzUnread(f *testing.F) {
	f.Add([]byte{0, 8, 9, 6, 8, 9})
	f.Add([]byte{2, 8, 9, 3, 8, 9, 7, 8, 9})
	f.Add([]byte{1, 0, 8, 6, 8, 5, 7, 2, 8, 3, 0, 8, 9, 7, 7, 7, 8, 4, 8, 9})
	f.Fuzz(func(t *testing.T, ops []byte) {
		now := time.Unix(0, 0)
		c := &Core{o: Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}}
		chs := []*Channel{{URI: "a"}, {URI: "b"}, {URI: "listed"}}
		list := &Channel{URI: "list"}
		peer := &line{}
		l := watching(c, peer, chs[0], chs[1], list)
		var toHost []int64   // pings that the peer has answered; 0 is a message
		var known [][]string // what the peer knew of at each of its messages
		var news []string    // all that it has read
		changes := map[string]int{}
		var unlisted []string
		for _, op := range ops[:min(len(ops), 300)] {
			tx := c.Lock()
			switch op %= 10; op {
			case 0, 1, 2: // somebody else changes a channel
				ch := chs[op]
				tx.Changes(ch, list, "other")
				changes[ch.URI]++
				name := ch.URI + strconv.Itoa(changes[ch.URI])
				if op == 2 {
					unlisted = append(unlisted, name)
				} else {
					peer.sent = append(peer.sent, name)
				}
			case 3: // the list is told
				tx.Tells(list)
				peer.sent = append(peer.sent, strings.Join(unlisted, " "))
				unlisted = nil
			case 4: // the peer's own principal changes one
				tx.Changes(chs[0], list, "peer")
			case 5:
				tx.Send(l, []byte("{}"))
			case 6, 7: // the peer reads; what goes with a ping it reads with it
				for more := len(peer.sent) > 0; more; {
					msg := peer.sent[0]
					peer.sent = peer.sent[1:]
					n, is := jsonrpc.Pong([]byte(msg))
					if is {
						toHost = append(toHost, n)
					} else {
						news = append(news, strings.Fields(msg)...)
					}
					more = is && len(peer.sent) > 0
				}
			case 8: // the peer sends
				toHost = append(toHost, 0)
				known = append(known, slices.Clone(news))
			case 9: // the host reads
				for len(toHost) > 0 {
					n := toHost[0]
					if toHost = toHost[1:]; n != 0 {
						l.Answered(n)
						continue
					}
					for _, ch := range chs {
						n := changes[ch.URI]
						want := n > 0 && !slices.Contains(known[0], ch.URI+strconv.Itoa(n))
						if got := tx.Unread(l, ch.URI); got != want {
							t.Fatalf("of change %d of %s, to one that knows %q: unread is %v", n, ch.URI, known[0], got)
						}
					}
					known = known[1:]
				}
			}
			tx.Unlock()
		}
	})
}

// TestUnreadEnds: who answers no pings counts as having read after a while; who can't be
// asked, or is given the state, at once; and nothing is kept of what was read.
func TestUnreadEnds(t *testing.T) {
	now := time.Unix(0, 0)
	c := &Core{o: Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}}
	list, ch, other := &Channel{URI: ahp.RootURI}, &Channel{URI: "t"}, &Channel{URI: "u"}
	silent, deaf, late := watching(c, &line{}, ch), watching(c, &line{deaf: true}, ch), watching(c, &line{}, list)
	tx := c.Lock()
	defer tx.Unlock()
	tx.Changes(ch, list, "other")
	check := func(when string, want ...bool) {
		t.Helper()
		for i, l := range []*Link{silent, deaf, late} {
			if got := tx.Unread(l, "t"); got != want[i] {
				t.Errorf("%s: link %d: unread is %v", when, i, got)
			}
		}
	}
	check("after the change", true, false, true)
	silent.Answered(5)
	check("after an answer to no ping", true, false, true)
	tx.Subscribe(ch, late)
	check("when the state is given", true, false, false)
	now = now.Add(unreadFor - 1)
	check("before the end", true, false, false)
	now = now.Add(1)
	check("at the end", false, false, false)
	tx.Changes(other, list, "other")
	tx.Subscribe(other, silent)
	tx.Changes(other, list, "other")
	if _, kept := silent.changed["t"]; kept {
		t.Error("what counts as read is kept")
	}
	silent.Answered(silent.asked.Load())
	check("when the last ping is answered", false, false, false)
}
