package link

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
)

// Far is the connection to another host, by its name. It may be down from the start. Its
// functions may be called from any goroutine.
type Far struct {
	Name    string
	Address string // another one is another host
	// Host gives the connection of now, a Nowhere while there is none.
	Host func() Host
	// Person is the principal that the host knows this person as, once connected.
	Person func() string
	// Retry tries at once to connect.
	Retry func()
}

// Standing is how the connection to another host stands.
type Standing struct {
	State State
	Since time.Time // of the loss, or of the first attempt
	Next  time.Time // attempt to connect
	Err   error     // of the last one
	// Silent says since when it has not answered, though connected; zero that it does.
	Silent time.Time
}

// HostChanged is what a Sink gives of another host's connection.
type HostChanged struct {
	Name string
	Standing
}

// HostSilent says since when another host that is connected has not answered; zero that
// it does.
type HostSilent struct {
	Name  string
	Since time.Time
}

// Others are the hosts that have names. Its methods may be called from any goroutine.
type Others struct{ list atomic.Pointer[[]Far] }

func (o *Others) Set(list []Far) { o.list.Store(&list) }

// All are those of now, in order.
func (o *Others) All() []Far {
	if list := o.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Find gives a host by its name, and whether there is one.
func (o *Others) Find(name string) (Far, bool) {
	all := o.All()
	i := slices.IndexFunc(all, func(f Far) bool { return f.Name == name })
	if i < 0 {
		return Far{}, false
	}
	return all[i], true
}

// Hosts are the connections to other hosts. It belongs to the event loop.
type Hosts struct {
	others *Others
	stands map[string]Standing
}

// List replaces the hosts that have names. It gives those whose names are gone or mean
// another host now.
func (h *Hosts) List(list []Far, now time.Time) (gone []string) {
	for _, was := range h.others.All() {
		if !slices.ContainsFunc(list, func(f Far) bool { return f.Name == was.Name && f.Address == was.Address }) {
			delete(h.stands, was.Name)
			gone = append(gone, was.Name)
		}
	}
	h.others.Set(list)
	for _, f := range list {
		if _, is := h.stands[f.Name]; !is {
			h.stands[f.Name] = Standing{State: Reconnecting, Since: now}
		}
	}
	return gone
}

// Has reports whether a resource is of this user's own host or of one that has a name.
func (h *Hosts) Has(uri ahp.URI) bool {
	name := hosted.Host(uri)
	_, is := h.Find(name)
	return is || name == ""
}

// Names are those of the other hosts, in order.
func (h *Hosts) Names() (names []string) {
	for _, f := range h.others.All() {
		names = append(names, f.Name)
	}
	return names
}

func (h *Hosts) Find(name string) (Far, bool) { return h.others.Find(name) }

// Take takes news of a connection. It reports whether that was made or lost.
func (h *Hosts) Take(c HostChanged) bool {
	was, is := h.stands[c.Name]
	if !is {
		return false // it has no name any more
	}
	if c.Since.IsZero() {
		c.Since = was.Since
	}
	h.stands[c.Name] = c.Standing
	return was.State != c.State
}

// Hush takes the news that a host does not answer, or does again.
func (h *Hosts) Hush(s HostSilent) {
	if st, is := h.stands[s.Name]; is {
		st.Silent = s.Since
		h.stands[s.Name] = st
	}
}

// Standing is how a host's connection stands.
func (h *Hosts) Standing(name string) Standing { return h.stands[name] }

// UpAt reports whether actions flow to the host of a resource.
func (l *Link) UpAt(uri ahp.URI) bool {
	name := hosted.Host(uri)
	if name == "" {
		return l.Up()
	}
	s, is := l.Hosts.stands[name]
	return is && s.State == Connected
}

// At gives the connection to the host of a resource.
func (l *Link) At(uri ahp.URI) Host {
	return l.Host.at(uri)
}

// Retry tries at once to connect to the host of a resource.
func (l *Link) Retry(uri ahp.URI) {
	if f, is := l.Hosts.Find(hosted.Host(uri)); is {
		f.Retry()
	}
}

// RemoteSink is a Sink's end for the connection to another host: its root is told from
// the others', and what it says of what is not its own is left out. Its methods are called
// from that connection's goroutines.
type RemoteSink struct {
	*Sink
	name string
}

// Of gives the end for another host's connection, whose resources carry its name.
func (s *Sink) Of(name string) *RemoteSink { return &RemoteSink{s, name} }

// Snapshot takes the state of a channel.
func (r *RemoteSink) Snapshot(snap ahp.Snapshot) {
	if snap.Resource = r.channel(snap.Resource); r.owns(snap.Resource) {
		r.Sink.Snapshot(snap)
	}
}

// Action takes a confirmed action or a refusal.
func (r *RemoteSink) Action(e ahp.Envelope) {
	if e.Channel = r.channel(e.Channel); r.owns(e.Channel) {
		r.Sink.Action(e)
	}
}

// Gone takes the news that a channel no longer exists.
func (r *RemoteSink) Gone(channel ahp.URI) {
	if r.owns(channel) {
		r.Sink.Gone(channel)
	}
}

// Note takes a notification beside actions.
func (r *RemoteSink) Note(method string, params json.RawMessage) {
	var p struct {
		Summary struct {
			Resource ahp.URI `json:"resource"`
		} `json:"summary"`
		Session ahp.URI `json:"session"`
	}
	if ahp.Unmarshal(params, &p) == nil && r.owns(cmp.Or(p.Session, p.Summary.Resource)) {
		r.Sink.Note(method, params)
	}
}

// owns reports whether a resource is the host's. An address may have been spelled so that
// it was not given the host's name.
func (r *RemoteSink) owns(uri ahp.URI) bool { return hosted.Host(uri) == r.name }

// Agents are those that the host says it has. It may be called from any goroutine.
func (r *RemoteSink) Agents() []ahp.AgentInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agents[r.name]
}

// channel is a channel's address here; the root has the same everywhere.
func (r *RemoteSink) channel(uri ahp.URI) ahp.URI {
	if uri == ahp.RootURI {
		return hosted.At(r.name, uri)
	}
	return uri
}

// Status takes a change of the connection's state.
func (r *RemoteSink) Status(to State, err error) {
	s := Standing{State: to, Err: err}
	if to != Connected {
		s.Since = time.Now()
	}
	r.post(HostChanged{r.name, s})
}

// Retrying takes the news that connecting has failed once more.
func (r *RemoteSink) Retrying(re Retry) {
	r.post(HostChanged{r.name, Standing{State: Reconnecting, Since: re.Since, Next: re.Next, Err: re.Err}})
}

// Silent takes the news that the host has not answered since then, and with the zero time
// that it does.
func (r *RemoteSink) Silent(since time.Time) {
	r.post(HostSilent{r.name, since})
}
