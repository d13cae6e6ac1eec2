package resource

import "tandemux/ahp"

// The methods.
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

// The values of the members Encoding.
const (
	UTF8   = "utf-8"
	Base64 = "base64"
)

// The values of the members Type.
const (
	File      = "file"
	Directory = "directory"
	Symlink   = "symlink"
)

// The values of WriteParams.Mode.
const (
	Truncate = "truncate" // replaces everything from Position on; the default
	Append   = "append"   // at Position from the end
	Insert   = "insert"   // at Position from the start
)

type (
	// Params are the params of requests about one file or directory.
	Params struct {
		Channel ahp.URI `json:"channel"`
		URI     ahp.URI `json:"uri"`
	}

	// ReadParams asks for a file's contents (resourceRead).
	ReadParams struct {
		Params
		Encoding string `json:"encoding,omitempty"`
	}
	// ReadResult is the answer to resourceRead.
	ReadResult struct {
		Data        string `json:"data"`
		Encoding    string `json:"encoding"`
		ContentType string `json:"contentType,omitempty"`
	}

	// ListResult has the entries of a directory (resourceList).
	ListResult struct {
		Entries ahp.List[Entry] `json:"entries"`
	}
	Entry struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}

	// ResolveParams asks what a URI refers to (resourceResolve).
	ResolveParams struct {
		Params
		FollowSymlinks *bool `json:"followSymlinks,omitempty"` // true if absent
	}
	// ResolveResult is the answer to resourceResolve.
	ResolveResult struct {
		URI         ahp.URI `json:"uri"`
		Type        string  `json:"type"`
		Size        *int64  `json:"size,omitempty"`
		MTime       string  `json:"mtime,omitempty"`
		ContentType string  `json:"contentType,omitempty"`
		ETag        string  `json:"etag,omitempty"`
	}

	// RequestParams asks for permission to read or write (resourceRequest).
	RequestParams struct {
		Params
		Read  bool `json:"read,omitempty"`
		Write bool `json:"write,omitempty"`
	}

	// WriteParams says what to write, and where in a file (resourceWrite).
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

	// DeleteParams says what to remove (resourceDelete).
	DeleteParams struct {
		Params
		Recursive bool `json:"recursive,omitempty"`
	}

	// TransferParams says what to copy or move, and where to (resourceCopy, resourceMove).
	TransferParams struct {
		Channel      ahp.URI `json:"channel"`
		Source       ahp.URI `json:"source"`
		Destination  ahp.URI `json:"destination"`
		FailIfExists bool    `json:"failIfExists,omitempty"`
	}
)

// WatchScheme is the scheme of the URIs of watches.
const WatchScheme = "ahp-resource-watch:"

type (
	// WatchParams says what to watch (createResourceWatch).
	WatchParams struct {
		Params
		Recursive bool      `json:"recursive,omitempty"`
		Excludes  *Patterns `json:"excludes,omitempty"`
		Includes  *Patterns `json:"includes,omitempty"`
	}
	// WatchResult has the channel to subscribe to.
	WatchResult struct {
		Channel ahp.URI `json:"channel"`
	}

	// WatchState says what is watched: Root and, if it is a directory, its entries, at any depth if
	// Recursive is set.
	WatchState struct {
		Root      ahp.URI `json:"root"`
		Recursive bool    `json:"recursive"`
		// Excludes leaves out what it matches, Includes what it does not match.
		Excludes *Patterns `json:"excludes,omitempty"`
		Includes *Patterns `json:"includes,omitempty"`
	}
	// Patterns are globs, or paths, relative to the root.
	Patterns struct {
		Items ahp.List[string] `json:"items"`
	}

	// WatchChanged tells what changed. It does not change the state.
	WatchChanged struct {
		Changes Changes `json:"changes"`
	}
	// Changes has at least one change.
	Changes struct {
		Items ahp.List[Change] `json:"items"`
	}
	// Change is a change of a file or directory.
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
