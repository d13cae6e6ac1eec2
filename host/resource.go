package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/params"
)

// resourceParams are those of all resource requests.
type resourceParams struct {
	URI      ahp.URI `json:"uri"`
	Encoding string  `json:"encoding"`       // resourceRead
	Follow   *bool   `json:"followSymlinks"` // resourceResolve
	Write    bool    `json:"write"`          // resourceRequest
}

// resource makes a request of what package files does. Files are for those who may
// start a terminal: they could read them there.
func resource(do func(h *Host, p resourceParams) (any, error)) func(context.Context, *conn, json.RawMessage) (any, error) {
	return func(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
		var p resourceParams
		if err := params.Decode(raw, &p); err != nil {
			return nil, err
		}
		if s := c.Principal.Lacks(auth.ScopeCreate); s != "" {
			return nil, ahp.PermissionDenied("files: %s", s)
		}
		return do(c.h, p)
	}
}

var (
	resourceList    = resource(func(h *Host, p resourceParams) (any, error) { return h.files.List(p.URI) })
	resourceRead    = resource(func(h *Host, p resourceParams) (any, error) { return h.files.Read(p.URI, p.Encoding) })
	resourceResolve = resource(func(h *Host, p resourceParams) (any, error) {
		return h.files.Resolve(p.URI, p.Follow == nil || *p.Follow)
	})
	// resourceRequest grants nothing: what may be read may be read already.
	resourceRequest = resource(func(h *Host, p resourceParams) (any, error) {
		if p.Write {
			return nil, readOnly("resourceRequest")
		}
		return struct{}{}, h.files.Check(p.URI)
	})
)

// refuseWrite answers the requests that would change files, or watch them.
func refuseWrite(method string) func(context.Context, *conn, json.RawMessage) (any, error) {
	return func(context.Context, *conn, json.RawMessage) (any, error) { return nil, readOnly(method) }
}

func readOnly(method string) error {
	return ahp.PermissionDenied("%s: this host serves files for reading only: write them in a terminal", method)
}
