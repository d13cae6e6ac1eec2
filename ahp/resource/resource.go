package resource

import "tandemux/ahp"

// The requests.
const (
	MethodList    = "resourceList"
	MethodRead    = "resourceRead"
	MethodResolve = "resourceResolve"
	MethodRequest = "resourceRequest"
	MethodWrite   = "resourceWrite"
	MethodMkdir   = "resourceMkdir"
	MethodDelete  = "resourceDelete"
	MethodMove    = "resourceMove"
	MethodCopy    = "resourceCopy"
	MethodWatch   = "createResourceWatch"
)

// The encodings of files.
const (
	UTF8   = "utf-8"
	Base64 = "base64"
)

// The types of files.
const (
	File      = "file"
	Directory = "directory"
	Symlink   = "symlink"
)

// The values of WriteParams.Mode.
const (
	Truncate = "truncate" // at Position from the start; the default
	Append   = "append"   // at Position from the end
	Insert   = "insert"   // at Position from the start
)

type (
	// Params are those of requests about one file or directory.
	Params struct {
		Channel ahp.URI `json:"channel"`
		URI     ahp.URI `json:"uri"`
	}

	// ReadParams ask for a file's contents.
	ReadParams struct {
		Params
		Encoding string `json:"encoding,omitempty"`
	}
	// ReadResult answers them.
	ReadResult struct {
		Data        string `json:"data"`
		Encoding    string `json:"encoding"`
		ContentType string `json:"contentType,omitempty"`
	}

	// ListResult is what is in a directory.
	ListResult struct {
		Entries ahp.List[Entry] `json:"entries"`
	}
	// Entry is a file or directory of it.
	Entry struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}

	// ResolveParams ask what a URI stands for.
	ResolveParams struct {
		Params
		FollowSymlinks *bool `json:"followSymlinks,omitempty"` // true where it is left out
	}
	// ResolveResult answers them.
	ResolveResult struct {
		URI         ahp.URI `json:"uri"`
		Type        string  `json:"type"`
		Size        *int64  `json:"size,omitempty"`
		MTime       string  `json:"mtime,omitempty"`
		ContentType string  `json:"contentType,omitempty"`
		ETag        string  `json:"etag,omitempty"`
	}

	// RequestParams ask for leave.
	RequestParams struct {
		Params
		Read  bool `json:"read,omitempty"`
		Write bool `json:"write,omitempty"`
	}

	// WriteParams say what to write, and where in a file.
	WriteParams struct {
		Params
		Data        string  `json:"data"`
		Encoding    string  `json:"encoding"`
		ContentType string  `json:"contentType,omitempty"`
		CreateOnly  bool    `json:"createOnly,omitempty"`
		Mode        string  `json:"mode,omitempty"`
		Position    int64   `json:"position,omitempty"`
		IfMatch     *string `json:"ifMatch,omitempty"`
	}

	// DeleteParams say what to remove.
	DeleteParams struct {
		Params
		Recursive bool `json:"recursive,omitempty"`
	}

	// TransferParams say what to copy or move, and where to.
	TransferParams struct {
		Channel      ahp.URI `json:"channel"`
		Source       ahp.URI `json:"source"`
		Destination  ahp.URI `json:"destination"`
		FailIfExists bool    `json:"failIfExists,omitempty"`
	}
)

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
