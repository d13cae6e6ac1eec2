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

// Far is the connection to another host that has a name. It may be down from the start. Its
// functions may be called from any goroutine.
type Far struct {
	Name    string
	Address string // with another address it is another host
	// Host returns the present connection, a Nowhere while there is none.
	Host func() Host
	// Person is this person's principal on that host, once connected.
	Person func() string
	// Retry tries at once to connect.
	Retry func()
}

// Standing is the state of the connection to another host.
type Standing struct {
	State State
	Since time.Time // of the loss, or of the first attempt
	Next  time.Time // attempt to connect
	Err   error     // of the last one
	// Silent is since when the connected host has not answered; zero if it answers.
	Silent time.Time
}

// HostChanged is a change of another host's connection, as Sink.Take returns it.
type HostChanged struct {
	Name string
	Standing
}

// HostSilent says since when another connected host has not answered; a zero time says that
// it answers.
type HostSilent struct {
	Name  string
	Since time.Time
}

// Others is the hosts that have names. Its methods may be called from any goroutine.
type Others struct{ list atomic.Pointer[[]Far] }

func (o *Others) Set(list []Far) { o.list.Store(&list) }

// All is the present hosts, in order.
func (o *Others) All() []Far {
	if list := o.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Find returns the host of a name, and whether there is one.
func (o *Others) Find(name string) (Far, bool) {
	all := o.All()
	i := slices.IndexFunc(all, func(f Far) bool { return f.Name == name })
	if i < 0 {
		return Far{}, false
	}
	return all[i], true
}

// Hosts is the connections to other hosts. Only the event loop may use it.
type Hosts struct {
	others *Others
	stands map[string]Standing
}

// List replaces the hosts that have names. It returns the names that are gone or now mean
// another host.
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

// Has reports whether a resource is on this user's own host or on one that has a name.
func (h *Hosts) Has(uri ahp.URI) bool {
	name := hosted.Host(uri)
	_, is := h.Find(name)
	return is || name == ""
}

// Names is the names of the other hosts, in order.
func (h *Hosts) Names() (names []string) {
	for _, f := range h.others.All() {
		names = append(names, f.Name)
	}
	return names
}

func (h *Hosts) Find(name string) (Far, bool) { return h.others.Find(name) }

// Take takes a change of a connection. It reports whether the connection was made or lost.
func (h *Hosts) Take(c HostChanged) bool {
	was, is := h.stands[c.Name]
	if !is {
		return false // the host no longer has a name
	}
	if c.Since.IsZero() {
		c.Since = was.Since
	}
	h.stands[c.Name] = c.Standing
	return was.State != c.State
}

// SetSilent notes that a host no longer answers, or answers again.
func (h *Hosts) SetSilent(s HostSilent) {
	if st, is := h.stands[s.Name]; is {
		st.Silent = s.Since
		h.stands[s.Name] = st
	}
}

// Standing is the state of a host's connection.
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

// At returns the connection to the host of a resource.
func (l *Link) At(uri ahp.URI) Host {
	return l.Host.at(uri)
}

// Retry tries at once to connect to the host of a resource.
func (l *Link) Retry(uri ahp.URI) {
	if f, is := l.Hosts.Find(hosted.Host(uri)); is {
		f.Retry()
	}
}

// RemoteSink passes what arrives from another host to a Sink. It gives the host's root channel
// an address of its own, and drops messages about resources that are not the host's. The
// goroutines of that connection call its methods.
type RemoteSink struct {
	*Sink
	name string
}

// Of returns the RemoteSink for the connection of a named host, whose resources carry that name.
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

// owns reports whether a resource is the host's. A host may spell an address so that its name
// was not added.
func (r *RemoteSink) owns(uri ahp.URI) bool { return hosted.Host(uri) == r.name }

// Agents are those that the host says it has. It may be called from any goroutine.
func (r *RemoteSink) Agents() []ahp.AgentInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agents[r.name]
}

// channel is a channel's address in the Sink: all hosts' roots have the same URI.
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

// Retrying says that another attempt to connect has failed.
func (r *RemoteSink) Retrying(re Retry) {
	r.post(HostChanged{r.name, Standing{State: Reconnecting, Since: re.Since, Next: re.Next, Err: re.Err}})
}

// Silent says since when the host has not answered; the zero time says that it answers.
func (r *RemoteSink) Silent(since time.Time) {
	r.post(HostSilent{r.name, since})
}
