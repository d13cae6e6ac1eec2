package page

import (
	"cmp"
	"encoding/base64"
	"strings"

	"tandemux/ahp"
	"tandemux/host/params"
)

// Place is where a session stands in the list; a cursor names one, so that a page goes on
// where the one before ended, whatever has changed since.
type Place struct {
	Modified ahp.Instant
	URI      ahp.URI
}

func Of(s ahp.SessionSummary) Place { return Place{s.ModifiedAt, s.Resource} }

// Compare is below 0 when p comes before q.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(q.Modified, p.Modified), cmp.Compare(p.URI, q.URI))
}

func (p Place) Cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(p.Modified) + " " + p.URI))
}

// Read is the place that a cursor names; "" names none.
func Read(cursor string) (p Place, err error) {
	if cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	at, uri, ok := strings.Cut(string(b), " ")
	p = Place{ahp.Instant(at), uri}
	if _, date := p.Modified.Ms(); err != nil || !ok || !date || len(cursor) > 2*params.MaxURI {
		return p, ahp.InvalidParams("list sessions: the cursor %q is not one of this host's", params.Clip(cursor))
	}
	return p, nil
}
