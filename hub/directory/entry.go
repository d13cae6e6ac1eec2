package directory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/hub/server"
	"tandemux/internal/hosts"
	"tandemux/internal/plaintext"
)

// Host is what a host says of itself.
type Host struct {
	Name     string      `json:"name"`
	Version  string      `json:"version"`          // of tandemux
	Labels   []string    `json:"labels,omitempty"` // where its credential has none
	System   string      `json:"system"`           // "linux/amd64"
	CPUs     int         `json:"cpus"`
	Memory   int64       `json:"memory"` // bytes, 0 where it is not known
	Room     int         `json:"room"`   // tasks that it takes at once
	Agents   []string    `json:"agents,omitempty"`
	Carries  bool        `json:"carries"` // its terminals are reached by the hub
	Terms    []Reference `json:"terminals,omitempty"`
	Sessions []Reference `json:"sessions,omitempty"`
	// More is how many terminals and sessions there are beyond those that are listed.
	More int `json:"more,omitempty"`
}

// Reference is a terminal or a session of a host.
type Reference struct {
	URI   string `json:"uri"`
	Title string `json:"title,omitempty"`
	State string `json:"state,omitempty"`
}

// Entry is a host of the directory.
type Entry struct {
	Host
	Present bool `json:"present" doc:"It is here: it said so within seconds"`
	// Seen is when it last said that it is here, by the hub's clock; zero where this hub has
	// not heard it.
	Seen time.Time `json:"seen,omitzero"`
}

// Bounds of what a host says of itself.
const (
	MaxListed = 256 // terminals, and as many sessions
	maxText   = 200
	maxURI    = 300
	maxWords  = 64
	maxEntry  = 256 << 10
)

// CheckName says what is wrong with a host's name in a fleet: it is a part of subjects.
func CheckName(name string) error {
	if err := hosts.CheckName(name); err != nil {
		return err
	}
	if strings.ContainsRune(name, '.') {
		return fmt.Errorf("%q is no name for a host of a fleet: leave the dots out", name)
	}
	return nil
}

// CheckLabel says what is wrong with a label.
func CheckLabel(label string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-=/", r)
	}
	if label == "" || len(label) > maxWords || strings.ContainsFunc(label, odd) {
		return fmt.Errorf("%q is no label: use up to %d letters, digits and ._-=/", label, maxWords)
	}
	return nil
}

// clean bounds what others wrote.
func (h *Host) clean() {
	cut := func(s string, n int) string {
		s = plaintext.Clean(s, "")
		if len(s) > n {
			s = strings.ToValidUTF8(s[:n], "")
		}
		return s
	}
	h.Version, h.System = cut(h.Version, maxWords), cut(h.System, maxWords)
	h.CPUs, h.Memory, h.Room, h.More = max(h.CPUs, 0), max(h.Memory, 0), max(h.Room, 0), max(h.More, 0)
	for _, words := range []*[]string{&h.Labels, &h.Agents} {
		*words = slices.DeleteFunc((*words)[:min(len(*words), maxWords)], func(w string) bool { return CheckLabel(w) != nil })
	}
	for _, list := range []*[]Reference{&h.Terms, &h.Sessions} {
		*list = (*list)[:min(len(*list), MaxListed)]
		for i, r := range *list {
			(*list)[i] = Reference{cut(r.URI, maxURI), cut(r.Title, maxText), cut(r.State, maxWords)}
		}
	}
}

// read is the Host of a name in what it wrote.
func read(name string, text []byte) (h Host, err error) {
	if len(text) > maxEntry {
		return h, fmt.Errorf("it is larger than %d bytes", maxEntry)
	}
	if err = json.Unmarshal(text, &h); err != nil {
		return Host{}, err
	}
	if err = CheckName(name); err != nil {
		return Host{}, err
	}
	h.Name = name // whatever it calls itself
	h.clean()
	return h, nil
}

// write is the text of a Host, with less of its lists where it is too large.
func write(h Host) ([]byte, error) {
	for {
		if n := max(len(h.Terms), len(h.Sessions)); n > MaxListed {
			h = h.shortened(MaxListed)
		}
		text, err := json.Marshal(h)
		if err != nil || len(text) <= maxEntry {
			return text, err
		}
		n := max(len(h.Terms), len(h.Sessions)) / 2
		if n == 0 {
			return nil, errors.New("it is too large without any terminal")
		}
		h = h.shortened(n)
	}
}

func (h Host) shortened(n int) Host {
	for _, list := range []*[]Reference{&h.Terms, &h.Sessions} {
		if over := len(*list) - n; over > 0 {
			*list, h.More = (*list)[:n], h.More+over
		}
	}
	return h
}

// Buckets, and what their keys are as subjects.
const (
	hostsBucket    = "tandemux_hosts"
	presenceBucket = "tandemux_presence"
	invitesBucket  = "tandemux_invites"
	prefix         = "$KV."
	operation      = "KV-Operation" // the header of what is no value
)

// Grant is what a host may do: write its own keys.
func Grant(host string) server.Grant {
	here := prefix + presenceBucket + "." + host
	return server.Grant{Publish: []string{prefix + hostsBucket + "." + host, here}, Subscribe: []string{here}}
}
