package host

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/requests"
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
func resource(do func(h *Host, p resourceParams) (any, error)) func(context.Context, *Host, *requests.Conn, resourceParams) (any, error) {
	return func(_ context.Context, h *Host, c *requests.Conn, p resourceParams) (any, error) {
		if s := c.Principal.Lacks(auth.ScopeCreate); s != "" {
			return nil, ahp.PermissionDenied("files: %s", s)
		}
		return do(h, p)
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

func readOnly(method string) error {
	return ahp.PermissionDenied("%s: this host serves files for reading only: write them in a terminal", method)
}
