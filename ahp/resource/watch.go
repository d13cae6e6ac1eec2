package resource

import "tandemux/ahp"

// WatchScheme is that of the channels of watches.
const WatchScheme = "ahp-resource-watch:"

type (
	// WatchParams say what to watch.
	WatchParams struct {
		Params
		Recursive bool      `json:"recursive,omitempty"`
		Excludes  *Patterns `json:"excludes,omitempty"`
		Includes  *Patterns `json:"includes,omitempty"`
	}
	// WatchResult is the channel to subscribe to.
	WatchResult struct {
		Channel ahp.URI `json:"channel"`
	}

	// WatchState is what is watched: Root, and if it is a directory what is in it, at
	// any depth where Recursive is set.
	WatchState struct {
		Root      ahp.URI `json:"root"`
		Recursive bool    `json:"recursive"`
		// Excludes leave out what they match, Includes all else.
		Excludes *Patterns `json:"excludes,omitempty"`
		Includes *Patterns `json:"includes,omitempty"`
	}
	// Patterns are globs, or paths, from the root on.
	Patterns struct {
		Items ahp.List[string] `json:"items"`
	}

	// WatchChanged tells of changes. It changes no state.
	WatchChanged struct {
		Changes Changes `json:"changes"`
	}
	// Changes are at least one.
	Changes struct {
		Items ahp.List[Change] `json:"items"`
	}
	// Change is what has become of a file or a directory.
	Change struct {
		URI  ahp.URI `json:"uri"`
		Type string  `json:"type"`
	}
)

// The values of Change.Type.
const (
	Added   = "added"
	Updated = "updated"
	Deleted = "deleted"
)

// ActionType implements ahp.Action.
func (WatchChanged) ActionType() string { return "resourceWatch/changed" }

func init() { ahp.Register(ahp.Row[WatchChanged](ahp.ByHost)) }

// Reduce is the state of a watch after an action: the same.
func Reduce(s WatchState, _ ahp.Action) WatchState { return s }
