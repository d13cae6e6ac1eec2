package ahp

func init() {
	add(row(byClient, func(w *writer, a ChatTurnStarted) { w.inline(a) }))
	add(row(byHost, func(w *writer, a ChatResponsePart) {
		w.str("turnId", a.TurnID)
		w.member("part", a.Part)
	}))
	add(row(byHost, func(w *writer, a ChatDelta) { w.piece(a.TurnID, a.PartID, a.Content) }))
	add(row(byHost, func(w *writer, a ChatReasoning) { w.piece(a.TurnID, a.PartID, a.Content) }))
	add(row(byHost, func(w *writer, a ChatUsage) { w.inline(a) }))
	add(row(byHost, func(w *writer, a ChatTurnComplete) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatTurnCancelled) { w.inline(a) }))
	add(row(byHost, writeChatError))
	add(later(byClient, func(w *writer, a ChatTurnResume) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatPendingMessageSet) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatPendingMessageRemoved) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatQueuedMessagesReordered) { list(w, "order", a.Order) }))
	add(row(byClient, func(w *writer, a ChatDraftChanged) { w.inline(a) }))
	add(later(byClient, func(w *writer, a ChatIsReadChanged) { w.inline(a) }))
	add(later(byClient, func(w *writer, a ChatIsArchivedChanged) { w.inline(a) }))
	add(row(byHost, func(w *writer, a ChatInputRequested) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatInputAnswerChanged) {
		w.str("requestId", a.RequestID)
		w.str("questionId", a.QuestionID)
		w.optRaw("answer", a.Answer)
	}))
	add(row(byClient, func(w *writer, a ChatInputCompleted) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatTruncated) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatTurnsLoaded) {
		list(w, "turns", a.Turns)
		w.optStr("turnsNextCursor", a.TurnsNextCursor)
	}))
	add(row(byHost, func(w *writer, a ChatActivityChanged) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatBackgroundWorkSet) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatBackgroundWorkRemoved) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatMovableChanged) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatChangesetsChanged) { opt(w, "changesets", a.Changesets) }))
	add(later(byClient, func(w *writer, a ChatWorkingDirectorySet) { w.inline(a) }))
	add(later(byClient, func(w *writer, a ChatWorkingDirectoryRemoved) { w.inline(a) }))

	add(row(byHost, func(w *writer, a ChatToolCallStart) { w.inline(a) }))
	add(row(byHost, func(w *writer, a ChatToolCallDelta) { w.inline(a) }))
	add(row(byHost, func(w *writer, a ChatToolCallReady) {
		if a.InvocationMessage == nil {
			a.InvocationMessage = Plain("")
		}
		w.inline(a)
	}))
	add(row(byClient, func(w *writer, a ChatToolCallConfirmed) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatToolCallContentChanged) {
		w.str("turnId", a.TurnID)
		w.str("toolCallId", a.ToolCallID)
		list(w, "content", a.Content)
		w.optRaw("_meta", a.Meta)
	}))
	add(row(byClient, func(w *writer, a ChatToolCallComplete) { w.inline(a) }))
	add(row(byClient, func(w *writer, a ChatToolCallResultConfirmed) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatToolCallAuthRequired) { w.inline(a) }))
	add(later(byHost, func(w *writer, a ChatToolCallAuthResolved) { w.inline(a) }))
}

// piece writes streamed text.
func (w *writer) piece(turn, part, text string) {
	w.str("turnId", turn)
	w.str("partId", part)
	w.str("content", text)
}

func writeChatError(w *writer, a ChatError) {
	w.str("turnId", a.TurnID)
	if a.Duration != nil {
		w.int("duration", *a.Duration)
	}
	if w.p != V05 {
		w.member("part", a.Part)
		return
	}
	failed := a.Part.Error
	if failed == nil {
		failed = &ErrorInfo{}
	}
	w.member("error", *failed)
}
