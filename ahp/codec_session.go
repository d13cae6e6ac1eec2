package ahp

func init() {
	add(row(byHost, func(*writer, SessionReady) {}))
	add(row(byHost, func(w *writer, a SessionCreationFailed) { w.inline(a) }))
	add(row(byHost, func(w *writer, a SessionChatAdded) { w.inline(a) }))
	add(row(byHost, func(w *writer, a SessionChatRemoved) { w.inline(a) }))
	add(row(byHost, func(w *writer, a SessionChatUpdated) {
		w.str("chat", a.Chat)
		w.object("changes", a.Changes)
	}))
	add(later(byHost, func(w *writer, a SessionChatsReordered) {
		list(w, "chats", a.Chats)
		w.raw("destination", a.Destination)
	}))
	add(row(byHost, func(w *writer, a SessionDefaultChatChanged) { w.inline(a) }))
	add(row(byClient, func(w *writer, a SessionTitleChanged) { w.str("title", a.Title) }))
	add(row(byClient, func(w *writer, a SessionIsReadChanged) { w.inline(a) }))
	add(row(byClient, func(w *writer, a SessionIsArchivedChanged) { w.inline(a) }))
	add(row(byHost, func(w *writer, a SessionActivityChanged) { w.inline(a) }))
	add(row(byHost, func(w *writer, a SessionChangesetsChanged) { opt(w, "changesets", a.Changesets) }))
	add(row(byHost, func(w *writer, a SessionServerToolsChanged) { list(w, "tools", a.Tools) }))
	add(row(byClient, func(w *writer, a SessionActiveClientSet) { w.inline(a) }))
	add(row(byClient, func(w *writer, a SessionActiveClientRemoved) { w.inline(a) }))
	add(later(byClient, func(w *writer, a SessionWorkingDirectorySet) { w.inline(a) }))
	add(later(byClient, func(w *writer, a SessionWorkingDirectoryRemoved) { w.inline(a) }))
	add(later(byClient, func(w *writer, a SessionWorkingDirectoryReplaced) { w.inline(a) }))
	add(later(byHost, func(w *writer, a SessionInputNeededSet) { w.inline(a) }))
	add(later(byHost, func(w *writer, a SessionInputNeededRemoved) { w.inline(a) }))
	add(row(byHost, func(w *writer, a SessionCustomizationsChanged) { list(w, "customizations", a.Customizations) }))
	add(row(byHost, func(w *writer, a SessionCustomizationUpdated) { w.raw("customization", a.Customization) }))
	add(row(byHost, func(w *writer, a SessionCustomizationRemoved) { w.inline(a) }))
	add(row(byClient, func(w *writer, a SessionCustomizationToggled) {
		w.str("id", a.ID)
		if a.Enabled != nil {
			w.bool("enabled", *a.Enabled)
		}
		w.optRaw("enablement", a.Enablement)
	}))
	add(row(byHost, func(w *writer, a SessionMcpServerStateChanged) {
		w.str("id", a.ID)
		w.raw("state", a.State)
		w.optStr("channel", a.Channel)
	}))
	add(later(byClient, func(w *writer, a SessionMcpServerStartRequested) { w.inline(a) }))
	add(later(byClient, func(w *writer, a SessionMcpServerStopRequested) { w.inline(a) }))
	add(later(byClient, func(w *writer, a SessionMcpServerBackgroundRequested) { w.inline(a) }))
	add(row(byClient, func(w *writer, a SessionConfigChanged) {
		w.member("config", nonNilMap(a.Config))
		if a.Replace {
			w.bool("replace", true)
		}
	}))
	add(row(byHost, func(w *writer, a SessionMetaChanged) { w.optRaw("_meta", a.Meta) }))
	add(row(byClient, func(w *writer, a SessionModelChanged) { w.raw("model", a.Model) }))
	add(row(byClient, func(w *writer, a SessionAgentChanged) { w.optRaw("agent", a.Agent) }))
}

// later is a row of an action that 0.5.0 does not know.
func later[A Action](client bool, write func(w *writer, a A)) (string, kind) {
	name, k := row(client, write)
	k.after05 = true
	return name, k
}

// Speaks reports whether a peer of profile p may be sent an action: it was in
// its version of the protocol. Unknown types are not ours to judge.
func Speaks(p Profile, actionType string) bool {
	k := kinds[actionType]
	return p != V05 || !k.after05
}
