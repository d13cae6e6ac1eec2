package link

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/ahp/hosted"
	"tandemux/ui/tasks"
)

// fleet is several hosts as one Host: requests about another host's resources go to that host's
// connection, and lists have the entries of all connected hosts. Its methods may be called from
// any goroutine.
type fleet struct {
	Host   // this user's own
	others *Others
}

// UnknownHostError is the name of an unknown host.
type UnknownHostError string

func (e UnknownHostError) Error() string {
	return fmt.Sprintf("no host is called %s here: `tandemux hosts add %s URL` gives one the name", string(e), string(e))
}

// Nowhere is a host that can't be reached.
type Nowhere struct {
	Err error
	// Left is called with channels that are unsubscribed; it may be nil.
	Left func(uri ahp.URI)
}

var _ Host = Nowhere{}

func (Nowhere) ClientID() string                                               { return "" }
func (n Nowhere) Create(context.Context, ahp.CreateTerminalParams) error       { return n.Err }
func (n Nowhere) Call(context.Context, string, any, any) error                 { return n.Err }
func (n Nowhere) Subscribe(context.Context, ahp.URI) error                     { return n.Err }
func (n Nowhere) Dispatch(ahp.URI, ahp.Action) (int64, error)                  { return 0, n.Err }
func (n Nowhere) Colors(ahp.ColorsParams) error                                { return n.Err }
func (Nowhere) RoundTrip() time.Duration                                       { return 0 }
func (Nowhere) Retry()                                                         {}
func (n Nowhere) Sessions(context.Context) ([]ahp.SessionSummary, error)       { return nil, n.Err }
func (n Nowhere) CreateSession(context.Context, ahp.CreateSessionParams) error { return n.Err }
func (n Nowhere) Agents(context.Context) ([]Agent, error)                      { return nil, n.Err }

func (n Nowhere) Tasks(context.Context) ([]tasks.Task, error) { return nil, n.Err }

func (n Nowhere) TaskChanges(context.Context, string) (c tasks.Changes, err error) { return c, n.Err }
func (n Nowhere) SteerTask(context.Context, string, string) error                  { return n.Err }
func (n Nowhere) TaskPatch(context.Context, string) (string, error)                { return "", n.Err }

func (n Nowhere) MergeTask(context.Context, string, tasks.Merge) (m tasks.Merged, err error) {
	return m, n.Err
}

func (n Nowhere) UpdateTask(context.Context, string, tasks.Update) (string, error) { return "", n.Err }

func (n Nowhere) PullTask(context.Context, string, string) (string, error) { return "", n.Err }

func (n Nowhere) DiscardTask(context.Context, string) (string, error) { return "", n.Err }

// Unsubscribe stops following a channel.
func (n Nowhere) Unsubscribe(uri ahp.URI) {
	if n.Left != nil {
		n.Left(uri)
	}
}

// at returns the connection to the host of a resource.
func (f *fleet) at(uri ahp.URI) Host {
	name := hosted.Host(uri)
	if name == "" {
		return f.Host
	}
	if far, is := f.others.Find(name); is {
		return far.Host()
	}
	return Nowhere{Err: UnknownHostError(name)}
}

func (f *fleet) Create(ctx context.Context, p ahp.CreateTerminalParams) error {
	return f.at(p.Channel).Create(ctx, p)
}

// Call goes to the host of the channel in its params; a search goes to all.
func (f *fleet) Call(ctx context.Context, method string, params, result any) error {
	switch got := result.(type) {
	case *find.SearchResult:
		return each(f, func(h Host) (one find.SearchResult, err error) { return one, h.Call(ctx, method, params, &one) }, func(name string, one find.SearchResult) {
			one.Items = slices.DeleteFunc(one.Items, func(h find.SearchHit) bool { return hosted.Host(h.Terminal) != name })
			got.Items, got.Partial = append(got.Items, one.Items...), got.Partial || one.Partial
		})
	case *find.HistoryResult:
		err := each(f, func(h Host) (one find.HistoryResult, err error) { return one, h.Call(ctx, method, params, &one) }, func(name string, one find.HistoryResult) {
			one.Items = slices.DeleteFunc(one.Items, func(c find.Command) bool { return hosted.Host(c.Terminal) != name })
			got.Items, got.More = append(got.Items, one.Items...), got.More || one.More
		})
		slices.SortStableFunc(got.Items, func(a, b find.Command) int { return cmp.Compare(b.Timestamp, a.Timestamp) })
		return err
	}
	channel := ahp.RootURI
	if v := reflect.Indirect(reflect.ValueOf(params)); v.Kind() == reflect.Struct {
		if c := v.FieldByName("Channel"); c.Kind() == reflect.String {
			channel = c.String()
		}
	}
	return f.at(channel).Call(ctx, method, params, result)
}

// each asks all hosts at once. It calls take with the answers in the order of the hosts: first
// this user's own, whose name is "". take ignores entries that are not the host's own. Hosts
// other than this user's own may be unreachable.
func each[T any](f *fleet, ask func(h Host) (T, error), take func(name string, one T)) error {
	type answer struct {
		one T
		err error
	}
	far := f.others.All()
	got := make([]answer, len(far)+1)
	var done sync.WaitGroup
	for i := range got {
		h := f.Host
		if i > 0 {
			h = far[i-1].Host()
		}
		done.Go(func() { got[i].one, got[i].err = ask(h) })
	}
	done.Wait()
	for i, g := range got {
		name := ""
		if i > 0 {
			name = far[i-1].Name
		}
		if g.err == nil {
			take(name, g.one)
		}
	}
	return got[0].err
}

func (f *fleet) Subscribe(ctx context.Context, uri ahp.URI) error {
	return f.at(uri).Subscribe(ctx, uri)
}
func (f *fleet) Unsubscribe(uri ahp.URI) { f.at(uri).Unsubscribe(uri) }

func (f *fleet) Dispatch(uri ahp.URI, a ahp.Action) (int64, error) { return f.at(uri).Dispatch(uri, a) }

func (f *fleet) Colors(p ahp.ColorsParams) error {
	for _, far := range f.others.All() {
		if err := far.Host().Colors(p); err != nil {
			continue // it is sent when that host is connected
		}
	}
	return f.Host.Colors(p)
}

func (f *fleet) Sessions(ctx context.Context) (all []ahp.SessionSummary, err error) {
	err = each(f, func(h Host) ([]ahp.SessionSummary, error) { return h.Sessions(ctx) }, func(name string, one []ahp.SessionSummary) {
		for _, s := range one {
			if hosted.Host(s.Resource) == name {
				all = append(all, s)
			}
		}
	})
	return all, err
}

func (f *fleet) CreateSession(ctx context.Context, p ahp.CreateSessionParams) error {
	return f.at(p.Channel).CreateSession(ctx, p)
}

// Tasks is the tasks of all hosts. Ids, names and sessions of another host's tasks carry its name.
func (f *fleet) Tasks(ctx context.Context) (all []tasks.Task, err error) {
	err = each(f, func(h Host) ([]tasks.Task, error) { return h.Tasks(ctx) }, func(name string, one []tasks.Task) {
		for _, t := range one {
			if name != "" {
				t.ID, t.Name, t.Session = name+":"+t.ID, name+":"+t.Name, hosted.At(name, t.Session)
			}
			all = append(all, t)
		}
	})
	slices.SortStableFunc(all, func(a, b tasks.Task) int { return b.Updated.Compare(a.Updated) })
	return all, err
}

func (f *fleet) task(id string) (Host, string) {
	name, there, of := strings.Cut(id, ":")
	if far, is := f.others.Find(name); is && of {
		return far.Host(), there
	}
	return f.Host, id
}

func (f *fleet) TaskChanges(ctx context.Context, id string) (tasks.Changes, error) {
	h, id := f.task(id)
	return h.TaskChanges(ctx, id)
}

func (f *fleet) SteerTask(ctx context.Context, id, text string) error {
	h, id := f.task(id)
	return h.SteerTask(ctx, id, text)
}

func (f *fleet) TaskPatch(ctx context.Context, id string) (string, error) {
	h, id := f.task(id)
	return h.TaskPatch(ctx, id)
}

func (f *fleet) MergeTask(ctx context.Context, id string, how tasks.Merge) (tasks.Merged, error) {
	h, id := f.task(id)
	return h.MergeTask(ctx, id, how)
}

func (f *fleet) UpdateTask(ctx context.Context, id string, how tasks.Update) (string, error) {
	h, id := f.task(id)
	return h.UpdateTask(ctx, id, how)
}

func (f *fleet) PullTask(ctx context.Context, id, dir string) (string, error) {
	h, id := f.task(id)
	return h.PullTask(ctx, id, dir)
}

func (f *fleet) DiscardTask(ctx context.Context, id string) (string, error) {
	h, id := f.task(id)
	return h.DiscardTask(ctx, id)
}
