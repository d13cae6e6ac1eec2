package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandemux/ahp/hosted"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
	"tandemux/internal/hosts"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// Named is a host of the list, at its address, with the token of its file.
func Named(d local.Dirs, h hosts.Host) (Endpoint, error) {
	p := Endpoint{Dirs: d, Name: h.Name, Hub: h.Hub}
	if err := p.parse(h.URL, "host "+h.Name); err != nil {
		return p, err
	}
	if h.TokenFile == "" || p.scheme != "ws" && p.scheme != "wss" {
		return p, nil
	}
	var err error
	p.token, err = readToken(h.TokenFile)
	p.tokenFrom = h.TokenFile
	return p, err
}

// find is Named by a name of the list.
func (p Endpoint) find(name, from string) (hosts.Host, error) {
	list, err := hosts.Read(p.Dirs.Config)
	if err != nil {
		return hosts.Host{}, err
	}
	h, ok := hosts.Find(list, name)
	if !ok {
		return h, cli.Usagef("%s: no host is called %q: `tandemux hosts ls` lists them; an address starts with ssh://, wss://, ws:// or unix://", from, cli.Short(name))
	}
	return h, nil
}

// ID is what the commands call a thing of the host: HOST:ID, or ID of one that has no
// name.
func (p Endpoint) ID(uri string) string {
	if host := hosted.Host(uri); host != "" || p.Name == "" {
		return LastPart(uri)
	}
	return p.Name + ":" + LastPart(uri)
}

// All are the hosts that a list is of: the one that the command line or the environment
// names, or else this user's own and those that have names. One that can't be asked has
// an error in its place.
func All(cmd *cobra.Command) ([]Endpoint, []error, error) {
	own, err := Of(cmd)
	if err != nil || !own.Own() || flagText(cmd, "host") != "" {
		return []Endpoint{own}, []error{nil}, err
	}
	all, wrong := []Endpoint{own}, []error{nil}
	list, err := hosts.Read(own.Dirs.Config)
	if err != nil { // this machine's can be told all the same
		return append(all, Endpoint{Name: hosts.File}), append(wrong, err), nil
	}
	for _, h := range list {
		p, err := Named(own.Dirs, h)
		p.debug = own.debug
		all, wrong = append(all, p), append(wrong, err)
	}
	return all, wrong, nil
}

// OfAll says of a list which hosts it asks.
const OfAll = `Those of the hosts that "tandemux hosts ls" lists, too, unless --host names one; --host local
is this machine's. Exit code 3: some hosts were not reached, what the others say was printed.`

// Quiet is the host with nobody at hand to be asked for a password.
func (p Endpoint) Quiet() Endpoint {
	p.quiet = true
	return p
}

// Several reports whether the host is one of several that are asked at once.
func (p Endpoint) Several() bool { return p.quiet }

// eachTime bounds what a list waits for one host of several.
const eachTime = 5 * time.Second

// Answer is what one host said.
type Answer[T any] struct {
	Host string // "" for this user's own
	Got  T
}

// Missed are hosts that a list could not be asked of; the rest was printed.
type Missed []string

func (m Missed) Error() string { return "not reached: " + strings.Join(m, "; ") }

// error has the exit code of its own; nil if none was missed.
func (m Missed) error() error {
	if m == nil {
		return nil
	}
	return cli.StatusError{Code: cli.ExitPart, Err: m}
}

// atOnce does something for each of n hosts, for a bounded time.
func atOnce(cmd *cobra.Command, n int, do func(ctx context.Context, i int)) {
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			ctx, cancel := context.WithTimeout(cmd.Context(), eachTime)
			defer cancel()
			do(ctx, i)
		})
	}
	done.Wait()
}

// Each asks all hosts that a list is of at once, with hubs or without, and gives what they
// say in their order. One host's error is the error. Of several, this user's own may not run,
// and the others' are missed: an error to be returned when the rest is printed, with an exit
// code of its own.
func Each[T any](cmd *cobra.Command, hubs bool, ask func(ctx context.Context, p Endpoint) (T, error)) (got []Answer[T], missed, err error) {
	all, wrong, err := All(cmd)
	if err != nil {
		return nil, nil, err
	}
	for i := len(all) - 1; i > 0 && !hubs; i-- {
		if all[i].Hub {
			all, wrong = slices.Delete(all, i, i+1), slices.Delete(wrong, i, i+1)
		}
	}
	if len(all) == 1 {
		one, err := ask(cmd.Context(), all[0])
		return []Answer[T]{{"", one}}, nil, err
	}
	got = make([]Answer[T], len(all))
	atOnce(cmd, len(all), func(ctx context.Context, i int) {
		if p := all[i]; wrong[i] == nil {
			p.quiet = i > 0
			got[i].Got, wrong[i] = ask(ctx, p)
		}
		got[i].Host = all[i].Name
	})
	if errors.Is(wrong[0], local.ErrNoHost) {
		wrong[0] = nil
	}
	var names Missed
	for i, err := range wrong {
		if err != nil {
			names = append(names, fmt.Sprintf("%s (%v)", cmp.Or(all[i].Name, hosts.Local), err))
			got[i].Host = "?"
		}
	}
	got = slices.DeleteFunc(got, func(a Answer[T]) bool { return a.Host == "?" })
	return got, names.error(), nil
}

// EachConn is Each with a connection to each host, which hubs have none of. What one with a name has carries that.
func EachConn[T any](cmd *cobra.Command, ask func(ctx context.Context, s *Conn) (T, error)) (got []Answer[T], missed, err error) {
	return Each(cmd, false, func(ctx context.Context, p Endpoint) (one T, err error) {
		err = p.With(ctx, Options{Names: true}, func(ctx context.Context, s *Conn) error {
			one, err = ask(ctx, s)
			return err
		})
		return one, err
	})
}

// things are the words for arguments and for values of flags that name something of a
// host, which HOST: may stand in front of.
var things = []string{"ID", "TERMINAL", "SESSION", "LAYOUT", "TASK", "WORKSPACE"}

func isThing(word string) bool { return slices.Contains(things, strings.Trim(word, "[].()|")) }

// TakeHosts has root and all commands below it take HOST:ID wherever they take an ID,
// which is then --host HOST. The IDs of one command are of one host.
func TakeHosts(root *cobra.Command) {
	for _, below := range root.Commands() {
		TakeHosts(below)
	}
	if root.RunE == nil || root.HasSubCommands() && root.HasParent() {
		return
	}
	words := strings.Fields(root.Use)[1:]
	if !slices.ContainsFunc(words, isThing) && !flagsNameThings(root) {
		return
	}
	work := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		host, args, err := hostOf(cmd, words, args)
		if err != nil {
			return err
		}
		if host != "" {
			cmd.Flags().Set("host", host) //nolint:errcheck // it takes any text
		}
		return work(cmd, args)
	}
}

func flagsNameThings(cmd *cobra.Command) (some bool) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		word, _ := pflag.UnquoteUsage(f)
		some = some || f.Value.Type() != "bool" && isThing(word)
	})
	return some
}

// hostOf is the host that a command line's words name, "" for none, and its arguments without
// that.
func hostOf(cmd *cobra.Command, words, args []string) (host string, ids []string, err error) {
	names := namesIn()
	host = flagText(cmd, "host")
	given, bare := host != "", false
	at := func(name, what string) {
		if host != "" && host != name {
			err = errors.Join(err, cli.Usagef("%s is on host %s, and the command is for host %s: run it once for each", cli.Short(what), name, host))
		}
		host = name
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		word, _ := pflag.UnquoteUsage(f)
		if name, id, ok := names(f.Value.String()); ok && f.Value.Type() != "bool" && isThing(word) {
			f.Value.Set(id) //nolint:errcheck // it took a longer one
			at(name, f.Value.String())
		}
	})
	last, dash := len(words)-1, cmd.ArgsLenAtDash()
	for i, arg := range args {
		word := ""
		if i <= last {
			word = words[i]
		} else if last >= 0 && strings.HasSuffix(strings.TrimSuffix(words[last], "]"), "...") {
			word = words[last]
		}
		name, id, ok := names(arg)
		switch {
		case dash >= 0 && i >= dash || !isThing(word):
			id = arg
		case ok:
			at(name, arg)
		case strings.Contains(word, "..."):
			bare = true
		}
		ids = append(ids, id)
	}
	if bare && host != "" && !given {
		err = errors.Join(err, cli.Usagef("some of what the command names is on host %s, and some says no host: run it once for each", host))
	}
	return host, ids, err
}

// namesIn gives what parts HOST:ID, where a host has that name, and the address of
// another host's resource. The list is read when it is needed.
func namesIn() func(text string) (name, id string, ok bool) {
	read := sync.OnceValue(func() []hosts.Host {
		list, _ := hosts.Read(local.FindDirs().Config) //nolint:errcheck // said by whoever uses the list
		return list
	})
	known := func(name string) bool {
		_, ok := hosts.Find(read(), name)
		return ok || name == hosts.Local
	}
	return func(text string) (string, string, bool) {
		if host, there := hosted.Split(text); host != "" && known(host) {
			return host, there, true
		}
		name, id, ok := hosts.Cut(text)
		if !ok || !known(name) {
			return "", text, false
		}
		return name, id, true
	}
}

// CheckNamed says what is wrong with what is about to be kept of a host, and whether it is
// a hub's.
func (p Endpoint) CheckNamed(ctx context.Context, h hosts.Host, pin string) (hub bool, err error) {
	switch {
	case h.TokenFile != "" && p.scheme != "ws" && p.scheme != "wss":
		return false, cli.Usagef("--token-file is for a host at wss:// or ws://")
	case pin != "" && p.scheme != "wss":
		return false, cli.Usagef("--fingerprint is for a host at wss://")
	case pin != "":
		if _, err := wsrpc.CheckFingerprint(pin); err != nil {
			return false, cli.Usagef("--fingerprint: %w", err)
		}
	}
	return p.findOut(ctx, pin), nil
}

// errHub is that of a connection to what is a hub.
var errHub = errors.New("it is a hub, which has no terminals")

// hubError says what to do with a hub in place of connecting to it.
func (p Endpoint) hubError() error {
	return fmt.Errorf("%[1]s: %[2]w: `tandemux hub ls --host %[1]s` lists its hosts, and tandemux task takes --host %[1]s", cmp.Or(p.Name, p.url), errHub)
}

// findOut says whether a hub is at an address that is about to be kept, if it answers soon.
func (p Endpoint) findOut(ctx context.Context, pin string) bool {
	if p.scheme != "ws" && p.scheme != "wss" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	p.quiet, p.pin = true, cmp.Or(pin, p.pin)
	dial, err := p.dialer()
	if err != nil {
		return false
	}
	t, err := dial(ctx)
	if err == nil {
		t.Close(jsonrpc.CloseDone, "") //nolint:errcheck // it was only asked whether it is there
	}
	return isHub(err)
}

// findTime bounds findOut.
const findTime = 2 * time.Second

// isHub reports whether an error of connecting is a hub's answer.
func isHub(err error) bool {
	refused, is := errors.AsType[*wsrpc.StatusError](err)
	return is && refused.Code == http.StatusMisdirectedRequest && strings.Contains(refused.Body, wsrpc.IsHub)
}

// askHub asks a hub whether it is there.
func (p Endpoint) askHub(ctx context.Context) error {
	api, err := p.API(ctx, true)
	if err != nil {
		return err
	}
	defer api.Close()
	return p.ExplainAPI(api.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/hub"}, nil))
}

// Trust remembers the certificate of the host.
func (p Endpoint) Trust(pin string) error {
	pin, err := wsrpc.CheckFingerprint(pin)
	if err != nil {
		return err
	}
	return trust(p.Dirs, p.host, pin)
}

// Check connects to all of some hosts at once, for a bounded time, and has each looked at,
// which is told how long connecting took or why it failed. missed is as Each's.
func Check[T any](cmd *cobra.Command, list []hosts.Host, look func(ctx context.Context, s *Conn, connected time.Duration, err error) (T, error)) (got []T, missed error) {
	got, wrong := make([]T, len(list)), make([]error, len(list))
	atOnce(cmd, len(list), func(ctx context.Context, i int) {
		p, err := Named(local.FindDirs(), list[i])
		p.quiet = true
		began, looked := time.Now(), false
		see := func(ctx context.Context, s *Conn) (err error) {
			looked = true
			got[i], err = look(ctx, s, time.Since(began), nil)
			return err
		}
		switch {
		case err != nil:
		case !p.Hub:
			err = p.With(ctx, Options{}, see)
		default:
			if err = p.askHub(ctx); err == nil {
				err = see(ctx, nil)
			}
		}
		if wrong[i] = err; err != nil && !looked {
			got[i], _ = look(ctx, nil, 0, err)
		}
	})
	var names Missed
	for i, err := range wrong {
		if err != nil {
			names = append(names, list[i].Name)
		}
	}
	return got, names.error()
}
