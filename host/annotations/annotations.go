package annotations

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/host/agent/words"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/internal/fileuri"
	"tandemux/internal/plaintext"
)

// Options are what Annotations need of the host.
type Options struct {
	Hostname string
	Audit    *audit.Log
	// Roots are the directories of a session; none when there is no such session.
	Roots func(tx core.Tx, session ahp.URI) []string
	// Changed says that a session's Summary is another.
	Changed func(tx core.Tx, session ahp.URI)
}

// Annotations are those of all sessions.
type Annotations struct{ Options }

// channel is the body of one's channel.
type channel struct {
	ch    *core.Channel
	value annotation.State
}

func (c *channel) Reduce(a ahp.Action)  { c.value = annotation.Reduce(c.value, a) }
func (c *channel) State(tx core.Tx) any { return c.value }
func (c *channel) Settle(tx core.Tx)    {}
func (c *channel) Kind() string         { return Kind }

// Kind names the channels in journals.
const Kind = "annotations:"

// Bounds, of a session and of one annotation; sizes in bytes.
const (
	maxAnnotations = 500
	maxEntries     = 50
	maxText        = 16 << 10
	maxMeta        = 4 << 10
	maxAll         = 2 << 20
	maxPosition    = 1 << 30
)

// given is the member of an entry's _meta that names the turn it was given in.
const given = "tandemux/given"

// Open makes a session's channel, unless an earlier host left it.
func (as *Annotations) Open(tx core.Tx, session ahp.URI) {
	uri := session + annotation.Suffix
	if _, ok := core.At[*channel](tx, uri); !ok {
		c := &channel{value: annotation.State{Annotations: []annotation.Annotation{}}}
		c.ch = tx.NewChannel(uri, c)
	}
}

func (as *Annotations) Close(tx core.Tx, session ahp.URI) {
	if c := at(tx, session); c != nil {
		tx.RemoveChannel(c.ch)
	}
}

// Revive makes a channel that an earlier host left.
func (as *Annotations) Revive(ch *core.Channel, state json.RawMessage) (core.Body, error) {
	c := &channel{ch: ch}
	return c, json.Unmarshal(state, &c.value)
}

// Sweep forgets the annotations of sessions that are not there.
func (as *Annotations) Sweep(tx core.Tx) {
	for ch := range tx.Channels() {
		if c, ok := ch.Body.(*channel); ok && as.Roots(tx, c.session()) == nil {
			tx.RemoveChannel(ch)
		}
	}
}

func (c *channel) session() ahp.URI { return strings.TrimSuffix(c.ch.URI, annotation.Suffix) }

func at(tx core.Tx, session ahp.URI) *channel {
	c, _ := core.At[*channel](tx, session+annotation.Suffix)
	return c
}

// Summary is what a session says of its annotations.
func (as *Annotations) Summary(tx core.Tx, session ahp.URI) json.RawMessage {
	c := at(tx, session)
	if c == nil {
		return nil
	}
	b, err := json.Marshal(c.value.Summary(c.ch.URI))
	if err != nil {
		return nil
	}
	return b
}

// Actions are those that clients may dispatch.
func (as *Annotations) Actions() map[string]requests.Action {
	all := map[string]requests.Action{}
	add := func(a ahp.Action, before func(ahp.Action) string, needs ...string) {
		all[a.ActionType()] = requests.Action{Scope: auth.ScopeSession, Needs: needs, Fits: requests.Is[*channel], Before: before, Do: as.change}
	}
	add(annotation.Set{}, func(a ahp.Action) string { return as.missing(a.(annotation.Set).Annotation.Resource) }, "annotation")
	add(annotation.Updated{}, func(a ahp.Action) string { return as.missing(a.(annotation.Updated).Resource) }, "annotationId")
	add(annotation.Removed{}, nil, "annotationId")
	add(annotation.EntrySet{}, nil, "annotationId", "entry")
	add(annotation.EntryRemoved{}, nil, "annotationId", "entryId")
	return all
}

// missing says that a file is not there. What is no file here is judged later.
func (as *Annotations) missing(resource ahp.URI) string {
	if path, ok := fileuri.Local(resource, as.Hostname); ok {
		if _, err := os.Lstat(path); err != nil {
			return fmt.Sprintf("there is no file %s", params.Clip(path))
		}
	}
	return ""
}

// change decides a client's action and carries it out: of what it would make, all has to
// be right.
func (as *Annotations) change(tx core.Tx, d *requests.Dispatch) string {
	if why := d.By.Link.Principal.CannotDrive(); why != "" {
		return why
	}
	c := d.Channel.Body.(*channel)
	action, id := c.complete(d.Action)
	before := c.value.Find(id)
	if _, adds := action.(annotation.Set); before == nil && !adds {
		return fmt.Sprintf("there is no annotation %q", params.Clip(id))
	}
	if a, is := action.(annotation.EntryRemoved); is && before.Entry(a.EntryID) == nil {
		return fmt.Sprintf("the annotation has no entry %q", params.Clip(a.EntryID))
	}
	next := annotation.Reduce(c.value, action)
	after := next.Find(id)
	switch {
	case after == nil: // It was removed.
	case before == nil && after.Resolved:
		return "a new annotation is not resolved"
	case len(next.Annotations) > maxAnnotations:
		return fmt.Sprintf("there are %d annotations already, the most there can be", maxAnnotations)
	default:
		if why := as.check(tx, c.session(), after); why != "" {
			return why
		}
		if before == nil || before.Resource != after.Resource {
			if why := as.outside(tx, c.session(), after.Resource); why != "" {
				return why
			}
			if d.Before != "" {
				return d.Before
			}
		}
		if weight(next) > maxAll {
			return fmt.Sprintf("the session's annotations would be larger than %d bytes", maxAll)
		}
	}
	as.Audit.Did(d.By.Link.Who(), "annotate", c.ch.URI, "annotation", params.Clip(id))
	tx.Keep(c.ch)
	tx.Apply(c.ch, action, d.By)
	as.Changed(tx, c.session())
	return ""
}

// complete is a client's action as it is carried out, and the annotation that it is about:
// with the origin that 0.5 means, and clean entries.
func (c *channel) complete(action ahp.Action) (_ ahp.Action, id string) {
	switch a := action.(type) {
	case annotation.Set:
		a.Annotation.Origin.Session = cmp.Or(a.Annotation.Origin.Session, c.session())
		a.Annotation.Entries = c.clean(a.Annotation.ID, a.Annotation.Entries)
		return a, a.Annotation.ID
	case annotation.Updated:
		if before := c.value.Find(a.AnnotationID); a.Origin == nil && a.TurnID != nil && before != nil {
			origin := before.Origin
			origin.TurnID = *a.TurnID
			a.Origin, a.TurnID = &origin, nil
		}
		return a, a.AnnotationID
	case annotation.EntrySet:
		a.Entry = c.clean(a.AnnotationID, []annotation.Entry{a.Entry})[0]
		return a, a.AnnotationID
	case annotation.EntryRemoved:
		return a, a.AnnotationID
	case annotation.Removed:
		return a, a.AnnotationID
	}
	return action, ""
}

// check says what is wrong with an annotation, but for its file.
func (as *Annotations) check(tx core.Tx, session ahp.URI, n *annotation.Annotation) string {
	badID := func(id string) bool { return id == "" || len(id) > params.MaxURI }
	o := n.Origin
	switch {
	case badID(n.ID):
		return fmt.Sprintf("id: it must have 1 to %d bytes", params.MaxURI)
	case o.Session != session:
		return "origin: the session is another one than the annotations'"
	case len(o.Chat) > params.MaxURI || len(o.TurnID) > params.MaxURI:
		return fmt.Sprintf("origin: longer than %d bytes", params.MaxURI)
	case len(n.Resource) > params.MaxURI:
		return fmt.Sprintf("resource: longer than %d bytes", params.MaxURI)
	case len(n.Meta) > maxMeta:
		return fmt.Sprintf("_meta: larger than %d bytes", maxMeta)
	case len(n.Entries) == 0:
		return "entries: an annotation has at least one: to remove the last, remove the annotation"
	case len(n.Entries) > maxEntries:
		return fmt.Sprintf("entries: more than %d", maxEntries)
	case n.Range != nil && !n.Range.Sane(maxPosition):
		return fmt.Sprintf("range: it begins and ends at positions from 0 to %d, and not before it begins", maxPosition)
	}
	seen := map[string]bool{}
	for _, e := range n.Entries {
		switch {
		case badID(e.ID):
			return fmt.Sprintf("entries: id: it must have 1 to %d bytes", params.MaxURI)
		case seen[e.ID]:
			return fmt.Sprintf("entries: the id %q is there twice", e.ID)
		case strings.TrimSpace(e.Text.Text) == "":
			return "entries: text: it is empty"
		case len(e.Text.Text) > maxText:
			return fmt.Sprintf("entries: text: longer than %d bytes", maxText)
		case len(e.Meta) > maxMeta:
			return fmt.Sprintf("entries: _meta: larger than %d bytes", maxMeta)
		}
		seen[e.ID] = true
	}
	return ""
}

// outside says why a resource is none of the session's.
func (as *Annotations) outside(tx core.Tx, session, resource ahp.URI) string {
	path, ok := fileuri.Local(resource, as.Hostname)
	if !ok {
		return fmt.Sprintf("resource: %q is not a file URI with an absolute path on this machine", params.Clip(resource))
	}
	if _, in := below(path, as.Roots(tx, session)); !in {
		return fmt.Sprintf("resource: %s is not below the session's directories", params.Clip(path))
	}
	return ""
}

// below is the path from the first of the roots, if it lies below one of them.
func below(path string, roots []string) (rel string, ok bool) {
	for i, root := range roots {
		rel, err := filepath.Rel(root, path)
		switch {
		case err != nil || !filepath.IsLocal(rel):
		case i > 0:
			return path, true
		default:
			return rel, true
		}
	}
	return "", false
}

// clean takes control characters out of a client's entries, and says of each whether the
// agent was given it: those that it has, with that text.
func (c *channel) clean(id string, entries []annotation.Entry) []annotation.Entry {
	had := c.value.Find(id)
	entries = slices.Clone(entries)
	for i := range entries {
		e := &entries[i]
		e.Text.Text = plaintext.Without(e.Text.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
		var turn any
		if had != nil {
			if before := had.Entry(e.ID); before != nil && before.Text == e.Text {
				turn = givenIn(*before)
			}
		}
		if turn != nil || givenIn(*e) != nil {
			e.Meta = words.WithMember(e.Meta, given, turn)
		}
	}
	return entries
}

// givenIn is the turn that an entry was given in; nil where it wasn't.
func givenIn(e annotation.Entry) any {
	if len(e.Meta) == 0 {
		return nil
	}
	var m map[string]any
	json.Unmarshal(e.Meta, &m) //nolint:errcheck // then it has no members
	return m[given]
}

// weight is about what a state takes.
func weight(s annotation.State) (n int) {
	for _, a := range s.Annotations {
		n += 256 + len(a.ID) + len(a.Resource) + len(a.Meta) + len(a.Origin.Session) + len(a.Origin.Chat) + len(a.Origin.TurnID)
		for _, e := range a.Entries {
			n += 64 + len(e.ID) + len(e.Text.Text) + len(e.Meta)
		}
	}
	return n
}

// Attach adds to a message what its session's agent has not been given yet, of what is
// not resolved.
func (as *Annotations) Attach(tx core.Tx, session ahp.URI, m ahp.Message) ahp.Message {
	c := at(tx, session)
	if c == nil {
		return m
	}
	var ids []string
	for _, n := range c.value.Annotations {
		if !n.Resolved && slices.ContainsFunc(n.Entries, func(e annotation.Entry) bool { return givenIn(e) == nil }) {
			ids = append(ids, n.ID)
		}
	}
	if len(ids) > 0 && !slices.ContainsFunc(m.Attachments, func(a ahp.Attachment) bool { return c.names(a, ids) }) {
		label := "1 comment"
		if len(ids) > 1 {
			label = fmt.Sprintf("%d comments", len(ids))
		}
		m.Attachments = append(slices.Clip(m.Attachments), ahp.Attachment{Type: ahp.AttachAnnotations, Label: label, Resource: c.ch.URI, AnnotationIDs: ids})
	}
	return m
}

func (c *channel) names(a ahp.Attachment, ids []string) bool {
	return a.Type == ahp.AttachAnnotations && params.Canonical(a.Resource) == c.ch.URI && (len(a.AnnotationIDs) == 0 || !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(a.AnnotationIDs, id) }))
}

// Given marks what a message has attached as given.
func (as *Annotations) Given(tx core.Tx, session ahp.URI, m ahp.Message, turn string) {
	c := at(tx, session)
	if c == nil {
		return
	}
	for _, n := range c.chosen(m.Attachments) {
		n.Entries = slices.Clone(n.Entries)
		some := false
		for i, e := range n.Entries {
			if givenIn(e) == nil {
				n.Entries[i].Meta, some = words.WithMember(e.Meta, given, turn), true
			}
		}
		if some {
			tx.Apply(c.ch, annotation.Set{Annotation: n}, nil)
		}
	}
}

// chosen are the annotations that attachments name, each once.
func (c *channel) chosen(attachments []ahp.Attachment) (list []annotation.Annotation) {
	for _, n := range c.value.Annotations {
		if slices.ContainsFunc(attachments, func(a ahp.Attachment) bool { return c.names(a, []string{n.ID}) }) {
			list = append(list, n)
		}
	}
	return list
}

// maxContext bounds what an agent is told with one message, in bytes.
const maxContext = 256 << 10

// Context is what the agent is told of the annotations that a message has attached, "" for
// none. inside gives the agent's name of a path.
func (as *Annotations) Context(core *core.Core, session ahp.URI, m ahp.Message, inside func(path string) string) string {
	tx := core.Lock()
	var list []annotation.Annotation
	var roots []string
	if c := at(tx, session); c != nil {
		list, roots = c.chosen(m.Attachments), as.Roots(tx, session)
	}
	tx.Unlock()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Comments on files, for you to see to:\n")
	for i, n := range list {
		text := as.describe(n, roots, inside)
		if b.Len()+len(text) > maxContext {
			fmt.Fprintf(&b, "\n(%d more are left out.)\n", len(list)-i)
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

func (as *Annotations) describe(n annotation.Annotation, roots []string, inside func(string) string) string {
	var b strings.Builder
	path, _ := fileuri.Local(n.Resource, as.Hostname)
	name, ok := below(path, roots)
	if !ok || name == path {
		name = inside(path)
	}
	fmt.Fprintf(&b, "\n%s", params.CleanTitle(name))
	if r := n.Range; r != nil {
		first, last := r.Start.Line+1, r.End.Line+1
		if r.End.Character == 0 && last > first { // The end is not in it.
			last--
		}
		if first == last {
			fmt.Fprintf(&b, ", line %d", first)
		} else {
			fmt.Fprintf(&b, ", lines %d to %d", first, last)
		}
	}
	if as.missing(n.Resource) != "" {
		b.WriteString(" (the file is gone)")
	}
	if n.Resolved {
		b.WriteString(" (resolved)")
	}
	b.WriteString(":\n")
	for _, e := range n.Entries {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(strings.TrimSpace(e.Text.Text), "\n", "\n  "))
	}
	return b.String()
}
