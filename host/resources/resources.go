package resources

import (
	"context"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/files"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// Options are what the requests need.
type Options struct {
	Core   *core.Core
	Audit  *audit.Log
	Files  *files.Server
	Limits Limits
}

// Limits bounds what is asked for.
type Limits struct {
	Watches    int // made by one connection
	WatchesAll int
	files.Limits
}

func (o Options) Methods() map[string]requests.Method {
	fs := o.Files
	all := map[string]requests.Method{
		resource.MethodList: {Large: true, Do: asked(func(_ context.Context, _ *requests.Conn, p resource.Params) (any, error) {
			return fs.List(p.URI)
		})},
		resource.MethodRead: {Large: true, Do: asked(func(_ context.Context, _ *requests.Conn, p resource.ReadParams) (any, error) {
			return fs.Read(p.URI, p.Encoding)
		})},
		resource.MethodResolve: {Do: asked(func(_ context.Context, _ *requests.Conn, p resource.ResolveParams) (any, error) {
			return fs.Resolve(p.URI, p.FollowSymlinks == nil || *p.FollowSymlinks)
		})},
		// It grants nothing: what may be done may be done already.
		resource.MethodRequest: {Do: asked(func(_ context.Context, c *requests.Conn, p resource.RequestParams) (any, error) {
			if err := params.Allowed("files", c.Principal.Lacks(auth.ScopeWrite)); err != nil && p.Write {
				return nil, err
			}
			return struct{}{}, fs.Check(p.URI, p.Write)
		})},
		resource.MethodWatch: {Do: asked(o.watch)},
	}
	change(o, all, resource.MethodWrite, false, func(_ context.Context, p writeParams) error {
		if p.Data == nil {
			return ahp.InvalidParams("data: missing")
		}
		p.WriteParams.Data = *p.Data
		return fs.Write(p.WriteParams)
	}, func(p writeParams) []ahp.URI { return []ahp.URI{p.URI} })
	change(o, all, resource.MethodMkdir, false, func(_ context.Context, p resource.Params) error { return fs.Mkdir(p.URI) },
		func(p resource.Params) []ahp.URI { return []ahp.URI{p.URI} })
	change(o, all, resource.MethodDelete, true, func(ctx context.Context, p resource.DeleteParams) error { return fs.Delete(ctx, p.URI, p.Recursive) },
		func(p resource.DeleteParams) []ahp.URI { return []ahp.URI{p.URI} })
	ends := func(p resource.TransferParams) []ahp.URI { return []ahp.URI{p.Source, p.Destination} }
	change(o, all, resource.MethodMove, true, fs.Move, ends)
	change(o, all, resource.MethodCopy, true, fs.Copy, ends)
	return all
}

// writeParams tell data that is missing from none.
type writeParams struct {
	resource.WriteParams
	Data *string `json:"data"`
}

// asked is for those who may start a terminal.
func asked[P any](do func(ctx context.Context, c *requests.Conn, p P) (any, error)) requests.Handler {
	return requests.Of(func(ctx context.Context, c *requests.Conn, p P) (any, error) {
		if err := params.Allowed("files", c.Principal.Lacks(auth.ScopeCreate)); err != nil {
			return nil, err
		}
		return do(ctx, c, p)
	})
}

// change adds a request that changes files: what of says is in the audit log. One that may
// take its time is answered later.
func change[P any](o Options, all map[string]requests.Method, name string, slow bool, do func(ctx context.Context, p P) error, of func(p P) []ahp.URI) {
	all[name] = requests.Method{Scope: auth.ScopeWrite, Do: asked(func(ctx context.Context, c *requests.Conn, p P) (any, error) {
		now := func(ctx context.Context) (any, error) {
			if err := do(ctx, p); err != nil {
				return nil, err
			}
			var about []any
			for i, uri := range of(p) {
				about = append(about, [2]string{"uri", "to"}[i], params.Clip(uri))
			}
			o.Audit.Did(c.Who(), name, "", about...)
			return struct{}{}, nil
		}
		if slow {
			return c.Aside(ctx, now)
		}
		return now(ctx)
	})}
}
