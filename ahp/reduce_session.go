package ahp

import (
	"encoding/json"
	"slices"
)

// ReduceSession returns the session's state after a (AHP, Session Channel). It has no clock.
func ReduceSession(s SessionState, a Action) SessionState { return reduceSession(s, a, "") }

// reduceSession is ReduceSession. For tests of 0.5, whose state has the time of the last change,
// now is the time of a, or "".
func reduceSession(s SessionState, a Action, now Instant) SessionState {
	modifies := false
	switch a.(type) {
	case SessionTitleChanged, SessionModelChanged, SessionAgentChanged:
		modifies = true
	case SessionConfigChanged:
		modifies = s.Config != nil
	}
	if modifies && now != "" {
		s.ModifiedAt = now
	}
	for _, reduce := range [...]func(*SessionState, Action){reduceSessionChats, reduceSessionMembers, reduceSessionClients, reduceCustomizations} {
		reduce(&s, a)
	}
	return s
}

// reduceSessionMembers applies the actions that set a single member.
func reduceSessionMembers(s *SessionState, a Action) {
	switch a := a.(type) {
	case SessionReady:
		s.Lifecycle = LifecycleReady
	case SessionCreationFailed:
		s.Lifecycle, s.CreationError = LifecycleFailed, &a.Error
	case SessionTitleChanged:
		s.Title = a.Title
	case SessionIsReadChanged:
		s.Status = s.Status.WithFlag(FlagRead, a.IsRead)
	case SessionIsArchivedChanged:
		s.Status = s.Status.WithFlag(FlagArchived, a.IsArchived)
	case SessionActivityChanged:
		s.Activity = a.Activity
	case SessionChangesetsChanged:
		s.Changesets = a.Changesets
	case SessionServerToolsChanged:
		s.ServerTools = nonNil(a.Tools)
	case SessionMetaChanged:
		s.Meta = a.Meta
	case SessionModelChanged:
		s.Model = a.Model
	case SessionAgentChanged:
		s.CurrentAgent = a.Agent
	case SessionConfigChanged:
		if s.Config != nil {
			s.Config = &SessionConfig{s.Config.Schema, changed(s.Config.Values, a.Config, a.Replace)}
		}
	}
}

// reduceSessionClients applies the actions about active clients, working directories, and what
// waits for a person or client.
func reduceSessionClients(s *SessionState, a Action) {
	switch a := a.(type) {
	case SessionActiveClientSet:
		s.ActiveClients = upsert(s.ActiveClients, a.ActiveClient, func(c ActiveClient) bool { return c.ClientID == a.ActiveClient.ClientID })
	case SessionActiveClientRemoved:
		s.ActiveClients = without(s.ActiveClients, func(c ActiveClient) bool { return c.ClientID == a.ClientID })
	case SessionWorkingDirectorySet:
		s.WorkingDirectories = upsert(s.WorkingDirectories, a.Directory, func(d URI) bool { return d == a.Directory })
	case SessionWorkingDirectoryRemoved:
		s.WorkingDirectories = without(s.WorkingDirectories, func(d URI) bool { return d == a.Directory })
	case SessionWorkingDirectoryReplaced:
		rest := slices.DeleteFunc(slices.Clone(s.WorkingDirectories), func(d URI) bool { return d == a.New && a.New != a.Old })
		if i := slices.Index(rest, a.Old); i >= 0 {
			rest[i] = a.New
			s.WorkingDirectories = rest
		}
	case SessionInputNeededSet:
		s.InputNeeded = upsert(s.InputNeeded, a.Request, func(n InputNeeded) bool { return n.ID == a.Request.ID })
		if slices.ContainsFunc(s.InputNeeded, func(n InputNeeded) bool { return n.Kind != NeedToolClientExecution }) {
			s.Status = s.Status.WithActivity(ActivityInputNeeded)
		}
	case SessionInputNeededRemoved:
		had := len(s.InputNeeded)
		s.InputNeeded = without(s.InputNeeded, func(n InputNeeded) bool { return n.ID == a.ID })
		if had > 0 && len(s.InputNeeded) == 0 {
			s.Status &^= ActivityInputNeeded &^ ActivityInProgress
		}
	}
}

// reduceSessionChats applies the actions about the list of chats.
func reduceSessionChats(s *SessionState, a Action) {
	at := func(chat URI) int {
		return slices.IndexFunc(s.Chats, func(c ChatSummary) bool { return c.Resource == chat })
	}
	switch a := a.(type) {
	case SessionChatAdded:
		s.Chats = upsert(s.Chats, a.Summary, func(c ChatSummary) bool { return c.Resource == a.Summary.Resource })
	case SessionChatRemoved:
		if at(a.Chat) < 0 {
			break
		}
		s.Chats = without(s.Chats, func(c ChatSummary) bool { return c.Resource == a.Chat })
		if s.DefaultChat == a.Chat {
			s.DefaultChat = ""
		}
	case SessionChatUpdated:
		i := at(a.Chat)
		if i < 0 {
			break
		}
		if merged, ok := Merged(s.Chats[i], a.Changes); ok {
			s.Chats = slices.Clone(s.Chats)
			s.Chats[i] = merged
		}
	case SessionChatsReordered:
		s.Chats = reorderChats(s.Chats, a)
	case SessionDefaultChatChanged:
		s.DefaultChat = a.DefaultChat
	}
}

// Merged returns summary with the members of changes set, or cleared where they are null. The
// resource is never changed. If changes can't be applied, it returns summary and false.
func Merged[T any](summary T, changes json.RawMessage) (T, bool) {
	whole, err := Encode(V1, summary)
	if err != nil {
		return summary, false
	}
	text, ok := mergeMembers(whole, changes, "resource")
	var next T
	if !ok || Unmarshal(text, &next) != nil {
		return summary, false
	}
	return next, true
}

// mergeMembers sets the members of changes in the object whole, except one; null removes a member.
func mergeMembers(whole, changes json.RawMessage, except string) (json.RawMessage, bool) {
	var members, with map[string]json.RawMessage
	if json.Unmarshal(whole, &members) != nil || json.Unmarshal(changes, &with) != nil {
		return nil, false
	}
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	for k, v := range with {
		switch {
		case k == except:
		case isAbsent(v):
			delete(members, k)
		default:
			members[k] = v
		}
	}
	text, err := Encode(V1, members)
	return text, err == nil
}

// reorderChats moves the named chats, in that order, to the destination: the start, the end, or
// before or after another chat. A destination that can't be found means the end.
func reorderChats(chats []ChatSummary, a SessionChatsReordered) []ChatSummary {
	var block, rest []ChatSummary
	for _, uri := range a.Chats {
		i := slices.IndexFunc(chats, func(c ChatSummary) bool { return c.Resource == uri })
		if i >= 0 && !slices.ContainsFunc(block, func(c ChatSummary) bool { return c.Resource == uri }) {
			block = append(block, chats[i])
		}
	}
	for _, c := range chats {
		if !slices.Contains(a.Chats, c.Resource) {
			rest = append(rest, c)
		}
	}
	return slices.Insert(rest, destination(a.Destination, rest), block...)
}

func destination(raw json.RawMessage, rest []ChatSummary) int {
	var word string
	var d struct {
		Kind, Chat, Before, After string
	}
	if json.Unmarshal(raw, &word) != nil {
		json.Unmarshal(raw, &d) //nolint:errcheck // what can't be read means the end
		word = d.Kind
	}
	anchor := d.Chat
	switch {
	case d.Before != "":
		word, anchor = "before", d.Before
	case d.After != "":
		word, anchor = "after", d.After
	}
	i := slices.IndexFunc(rest, func(c ChatSummary) bool { return c.Resource == anchor })
	switch {
	case word == "start":
		return 0
	case word == "before" && i >= 0:
		return i
	case word == "after" && i >= 0:
		return i + 1
	}
	return len(rest)
}
