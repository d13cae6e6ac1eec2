package agents

import (
	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/review"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// openReview shows what the session or task of a row of the list changed, once it is known
// whether it is a task.
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

// reviewHere shows what the session of the focused chat or terminal changed, or asks of
// which in the list.
func (as *Agents) reviewHere() {
	uri := as.current()
	if uri == "" {
		as.openList()
		as.Loop.Say(status.Info, "choose a session or task, then alt+p")
		return
	}
	as.openReview(uri)
}

// informReview tells the review what its session says.
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
