package agents

import (
	"context"
	"crypto/rand"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/address"
	"tandemux/ui/chat"
	"tandemux/ui/clipboard"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/panes"
	"tandemux/ui/review"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// chatActions returns the Actions of a chat.
func (as *Agents) chatActions(e *Chat) chat.Actions {
	return chat.Actions{
		Dispatch: func(a ahp.Action) bool {
			_, ok := as.Link.Dispatch(e.uri, a)
			return ok
		},
		Configure: func(id string, value any) {
			if e.session != "" {
				as.Link.Dispatch(e.session, ahp.SessionConfigChanged{Config: map[string]any{id: value}})
			}
		},
		Complete: func(text string, offset int) { as.complete(e, text, offset) },
		Copy: func(text, what string) {
			as.Clip.Copy(clipboard.Copied{Text: text, What: what + " (" + words.Counted(text) + ")"})
		},
		Open: func(uri ahp.URI) {
			if t := as.Panes.Terms.Get(uri); t != nil {
				as.Panes.Show(t.URI)
			} else {
				as.Loop.Say(status.Info, "this terminal is gone")
			}
		},
		Link:   as.OpenLink,
		Edit:   as.composeText,
		Choose: as.chooseRow,
		Say: func(warn bool, text string) {
			kind := status.Info
			if warn {
				kind = status.Warning
			}
			as.Loop.Say(kind, "%s", text)
		},
		Fork:   func(turn string) { as.forkChat(e, turn) },
		More:   func() { as.moreTurns(e) },
		Login:  func(way ahp.AgentAuth) { as.logIn(e, way) },
		Search: func(back bool) { as.searchChat(e, back) },
		Keys:   as.Keys,
		Screen: func(uri ahp.URI) chat.Screen {
			if t := as.Panes.Terms.Get(uri); t != nil && t.Feed != nil && t.Feed.Ready() {
				return t.Feed
			}
			return nil
		},
		NewID: func(kind string) string { return kind + "-" + strings.ToLower(rand.Text()) },
	}
}

// complete asks the host for completions.
func (as *Agents) complete(e *Chat, text string, offset int) {
	h, uri := as.Link.Host, e.uri
	as.Loop.Async("complete", func(ctx context.Context) (func(), error) {
		var got ahp.CompletionsResult
		p := ahp.CompletionsParams{Channel: uri, Kind: "userMessage", Text: text, Offset: offset}
		if err := h.Call(ctx, ahp.MethodCompletions, p, &got); err != nil {
			as.Log.Debug("no completions", "err", err)
		}
		return func() {
			if e := as.chats[uri]; e != nil {
				e.Offer(got.Items, text, offset)
				as.Loop.Dirty |= loop.Panes
			}
		}, nil
	})
}

// chooseRow asks the person to choose a row.
func (as *Agents) chooseRow(title string, rows []string, at int, accept func(int)) {
	for i := range rows {
		rows[i] = words.Clean(rows[i])
	}
	var o *overlay.List
	o = overlay.NewChoice(words.Clean(title), rows, at, func(row int) {
		if as.Loop.Overlay == o {
			as.Loop.Close()
		}
		accept(row)
	})
	as.Loop.Open(o)
}

// forkChat makes a chat that begins with the turns of another one, up to one turn.
func (as *Agents) forkChat(e *Chat, turn string) {
	h := as.Link.Host
	uri := ahp.ChatScheme + "/" + strings.ToLower(rand.Text()[:12])
	p := ahp.CreateChatParams{Channel: e.session, Chat: uri, Source: &ahp.ChatSource{Kind: "fork", Chat: e.uri, TurnID: turn}}
	as.Loop.Call("fork the chat", func(ctx context.Context) error { return h.Call(ctx, ahp.MethodCreateChat, p, nil) }, func() { as.Panes.Show(uri) })
}

func (as *Agents) moreTurns(e *Chat) {
	h := as.Link.Host
	if as.fetching {
		return
	}
	as.fetching = true
	p := ahp.FetchTurnsParams{Channel: e.uri, Cursor: e.State().TurnsNextCursor}
	as.Loop.Async("load older messages", func(ctx context.Context) (func(), error) {
		err := h.Call(ctx, ahp.MethodFetchTurns, p, nil)
		return func() { as.fetching = false }, err
	})
}

// logIn logs in to a chat's agent in one of its ways. A way for a terminal runs in a new pane.
func (as *Agents) logIn(e *Chat, way ahp.AgentAuth) {
	h := as.Link.Host
	if way.Kind == "env" {
		as.Loop.Say(status.Info, "set %s in the agent's env, in the configuration", strings.Join(way.Variables, " and "))
		return
	}
	uri, put := address.New(ahp.TerminalScheme), as.Panes.Beside(as.Panes.Area(), as.Panes.FocusID())
	s := as.sessions.byURI[e.session]
	p := ahp.LoginParams{Channel: ahp.RootURI, Method: way.ID, Terminal: uri, Cols: max(as.Panes.Arr.Area.W, 1), Rows: max(as.Panes.Arr.Area.H-1, 1)}
	if s != nil && s.ready && s.state.Lifecycle == ahp.LifecycleFailed {
		p.Session = e.session
	} else if s != nil {
		p.Provider = s.row.Provider
	}
	loop.Get(as.Loop, "log in", func(ctx context.Context) (got ahp.LoginResult, err error) {
		err = h.Call(ctx, ahp.MethodLogin, p, &got)
		if err == nil && got.Terminal != "" {
			err = h.Subscribe(ctx, got.Terminal)
		}
		return got, err
	}, func(got ahp.LoginResult) {
		if got.Terminal != "" {
			as.Panes.Created(got.Terminal, put)
			return
		}
		as.Loop.Say(status.Info, "logged in; %s tries again", as.Loop.Keys("chat-retry"))
	})
}

// searchChat asks for a text and searches the transcript while it is typed.
func (as *Agents) searchChat(e *Chat, back bool) {
	top, follow := e.Position()
	changed := func(text string) string {
		e.Restore(top, follow)
		return e.Find(text, back)
	}
	as.Loop.Search("search the chat", changed, e.FindNext, func(text string) {
		if e.Finding() != text {
			e.Find(text, back)
		}
		e.Read()
	}, func() {
		e.Find("", false)
		e.Restore(top, follow)
	})
}

// Composer has a text edited in an editor.
type Composer interface {
	// Compose writes a text to a file that only this user can read. It returns the command that
	// edits the file. read returns the text afterwards and removes the file.
	Compose(text string) (argv []string, read func() (string, error), err error)
}

// composeText has a text edited in a pane. done gets the text when the editor has ended.
func (as *Agents) composeText(text string, done func(string)) {
	if as.Composer == nil {
		as.Loop.Say(status.Info, "there is no editor to open it in")
		return
	}
	at, area := as.Panes.FocusID(), as.Panes.Area()
	as.Loop.Async("edit the message", func(context.Context) (func(), error) {
		argv, read, err := as.Composer.Compose(text)
		if err != nil {
			return nil, err
		}
		return func() {
			put := as.Panes.Beside(area, at)
			as.Panes.Create(func(l layout.Layout, uri string) (layout.Layout, layout.PaneID, error) {
				as.Panes.Then(uri, func() { as.composed(at, read, done) })
				return put(l, uri)
			}, panes.Program{Argv: argv, Host: panes.Own})
		}, nil
	})
}

// composed passes the edited text to done and focuses the chat's pane.
func (as *Agents) composed(at layout.PaneID, read func() (string, error), done func(string)) {
	as.Loop.Async("read the message", func(context.Context) (func(), error) {
		text, err := read()
		return func() {
			if err == nil {
				done(strings.TrimRight(text, "\n"))
			}
			as.Panes.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(at) })
			as.Loop.Dirty |= loop.Panes
		}, err
	})
}

// openReview shows the changes of a session or task in the list, as soon as it is known which of
// the two it is.
func (as *Agents) openReview(uri ahp.URI) {
	if as.Tasks.At(uri) != nil {
		as.showReview(uri)
		return
	}
	as.Tasks.Know(func() { as.showReview(uri) })
}

func (as *Agents) showReview(uri ahp.URI) {
	s, t := as.sessions.byURI[uri], as.Tasks.At(uri)
	of := review.Subject{}
	if s != nil {
		of.Title, of.URI = s.title(), s.uri
		if len(s.row.WorkingDirectories) > 0 {
			of.Dir = fileuri.Path(s.row.WorkingDirectories[0])
		}
	}
	switch {
	case t != nil:
		of.Title, of.Task = words.Clean(t.Name), t.ID
	case s == nil:
		as.Loop.Say(status.Info, "the session has ended")
		return
	}
	of.Title = "Changes of " + of.Title
	as.dropReview()
	as.review = review.Open(review.With{
		Loop: as.Loop, Link: as.Link, Tasks: as.Tasks, Look: &as.Outer.Look,
		Chat: func() {
			if s := as.sessions.byURI[uri]; s != nil {
				as.openSession(s)
			}
		},
	}, of)
	as.Tasks.Load()
	as.followSessions()
	as.informReview()
}

// reviewHere shows the changes of the focused chat's or terminal's session. If there is none, it
// opens the list to choose one.
func (as *Agents) reviewHere() {
	uri := as.current()
	if uri == "" {
		as.openList()
		as.Loop.Say(status.Info, "choose a session or task, then alt+p")
		return
	}
	as.openReview(uri)
}

// informReview passes the state of its session to the review.
func (as *Agents) informReview() {
	if as.review == nil {
		return
	}
	if s := as.sessions.byURI[as.review.URI]; s != nil && s.ready {
		as.review.Session(s.state, s.row.Status)
	}
}

func (as *Agents) dropReview() {
	if as.review != nil {
		as.review.Close()
		as.review = nil
	}
}
