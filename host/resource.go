package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/files"
	"tandemux/host/requests"
)

// resourceParams are those of all resource requests.
type resourceParams struct {
	URI      ahp.URI `json:"uri"`
	Encoding string  `json:"encoding"`       // resourceRead
	Follow   *bool   `json:"followSymlinks"` // resourceResolve
	Write    bool    `json:"write"`          // resourceRequest
}

// resources are the requests of what package files does. Files are for those who may
// start a terminal: they could read them there.
func resources(fs *files.Server) map[string]requests.Method {
	of := func(do func(p resourceParams) (any, error)) requests.Handler {
		return requests.Of(func(_ context.Context, c *requests.Conn, p resourceParams) (any, error) {
			if s := c.Principal.Lacks(auth.ScopeCreate); s != "" {
				return nil, ahp.PermissionDenied("files: %s", s)
			}
			return do(p)
		})
	}
	all := map[string]requests.Method{
		"resourceList": {Large: true, Do: of(func(p resourceParams) (any, error) { return fs.List(p.URI) })},
		"resourceRead": {Large: true, Do: of(func(p resourceParams) (any, error) { return fs.Read(p.URI, p.Encoding) })},
		"resourceResolve": {Do: of(func(p resourceParams) (any, error) {
			return fs.Resolve(p.URI, p.Follow == nil || *p.Follow)
		})},
		// It grants nothing: what may be read may be read already.
		"resourceRequest": {Do: of(func(p resourceParams) (any, error) {
			if p.Write {
				return nil, readOnly("resourceRequest")
			}
			return struct{}{}, fs.Check(p.URI)
		})},
	}
	// What would change files, or watch them, is refused (docs/protocol.md, What is served).
	for _, name := range []string{
		"resourceWrite", "resourceCopy", "resourceDelete", "resourceMove", "resourceMkdir", "createResourceWatch",
	} {
		all[name] = requests.Method{Do: func(context.Context, *requests.Conn, json.RawMessage) (any, error) { return nil, readOnly(name) }}
	}
	return all
}

func readOnly(method string) error {
	return ahp.PermissionDenied("%s: this host serves files for reading only: write them in a terminal", method)
}
