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

// Host is what a host tells about itself.
type Host struct {
	Name     string      `json:"name"`
	Version  string      `json:"version"`          // of tandemux
	Labels   []string    `json:"labels,omitempty"` // used where its credential grants none
	System   string      `json:"system"`           // "linux/amd64"
	CPUs     int         `json:"cpus"`
	Memory   int64       `json:"memory"` // in bytes, 0 if unknown
	Room     int         `json:"room"`   // how many tasks it runs at once
	Agents   []string    `json:"agents,omitempty"`
	Carries  bool        `json:"carries"` // the hub may open its terminals
	Terms    []Reference `json:"terminals,omitempty"`
	Sessions []Reference `json:"sessions,omitempty"`
	// More counts the terminals and sessions that are not listed.
	More int `json:"more,omitempty"`
}

// Reference points to a terminal or a session of a host.
type Reference struct {
	URI   string `json:"uri"`
	Title string `json:"title,omitempty"`
	State string `json:"state,omitempty"`
}

// Entry is a host as the directory knows it.
type Entry struct {
	Host
	Present bool `json:"present" doc:"It is here: it said so within seconds"`
	// Seen is when the last beat came, by the hub's clock; zero if this hub has heard none.
	Seen time.Time `json:"seen,omitzero"`
}

// Bounds of what a host tells about itself: counts, and sizes in bytes.
const (
	MaxListed = 256 // of terminals, and of sessions
	maxText   = 200
	maxURI    = 300
	maxWords  = 64
	maxEntry  = 256 << 10
)

// CheckName returns an error unless name may be a host's in a fleet. Names are parts of NATS subjects
// and so have no dots.
func CheckName(name string) error {
	if err := hosts.CheckName(name); err != nil {
		return err
	}
	if strings.ContainsRune(name, '.') {
		return fmt.Errorf("%q is no name for a host of a fleet: leave the dots out", name)
	}
	return nil
}

// CheckLabel returns an error unless label is valid.
func CheckLabel(label string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-=/", r)
	}
	if label == "" || len(label) > maxWords || strings.ContainsFunc(label, odd) {
		return fmt.Errorf("%q is no label: use up to %d letters, digits and ._-=/", label, maxWords)
	}
	return nil
}

// clean cuts and cleans the texts and lists that the host wrote.
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

// read decodes the entry that the host called name wrote.
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
	h.Name = name // whatever name it wrote
	h.clean()
	return h, nil
}

// write encodes a Host and shortens its lists until the text has at most maxEntry bytes.
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

// The buckets, and the NATS subject prefix of their keys.
const (
	hostsBucket    = "tandemux_hosts"
	presenceBucket = "tandemux_presence"
	invitesBucket  = "tandemux_invites"
	prefix         = "$KV."
	operation      = "KV-Operation" // the header of a message that deletes a key
)

// Grant returns what a host may do in NATS for the directory: write its own two keys.
func Grant(host string) server.Grant {
	here := prefix + presenceBucket + "." + host
	return server.Grant{Publish: []string{prefix + hostsBucket + "." + host, here}, Subscribe: []string{here}}
}
