package commands

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

const (
	// searchTime bounds a search of all terminals.
	searchTime = 5 * time.Second
	// maxHits bounds the lines that are found, maxContext those around each, and
	// maxHitLine a line, in bytes.
	maxHits    = 1000
	maxContext = 10
	maxHitLine = 1 << 10
)

// history gives commands that ran in any terminal (x-tandemux/history).
func (cs *Commands) history(_ context.Context, _ *requests.Conn, p find.HistoryParams) (any, error) {
	r, err := cs.History.Find(p)
	if err != nil {
		return nil, ahp.Internal("read history: %v", err)
	}
	return r, nil
}

// search gives the lines of all terminals that match (x-tandemux/search). It takes no lock
// longer than reading one terminal does.
func (cs *Commands) search(ctx context.Context, c *requests.Conn, p find.SearchParams) (any, error) {
	switch {
	case p.Pattern == "":
		return nil, ahp.InvalidParams("search: pattern: missing")
	case len(p.Pattern) > maxPattern:
		return nil, ahp.InvalidParams("search: pattern: longer than %d bytes", maxPattern)
	}
	re := pattern(p.Pattern)
	limit, around := min(p.Limit, maxHits), min(max(p.Context, 0), maxContext)
	if limit <= 0 {
		limit = maxHits
	}
	return c.Aside(ctx, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, searchTime)
		defer cancel()
		r := find.SearchResult{Items: []find.SearchHit{}}
		for _, t := range cs.reached(c) {
			got, err := t.Term.Read(ahp.ReadHistory)
			if err != nil {
				continue // one whose emulator broke has no text
			}
			if text := strings.TrimRight(got.Text, "\n"); !findIn(ctx, &r, t.URI(), text, re, limit, around) {
				r.Partial = true
				break
			}
		}
		return r, nil
	})
}

// reached gives the terminals that a connection may read.
func (cs *Commands) reached(c *requests.Conn) (all []*terminals.Terminal) {
	tx := cs.Core.Lock()
	defer tx.Unlock()
	for _, t := range cs.Terminals.All(tx) {
		if terminals.Reaches(tx, c.Principal, t.URI()) {
			all = append(all, t)
		}
	}
	return all
}

// pattern is what the interface's search takes a text for.
func pattern(text string) *regexp.Regexp {
	fold, escaped := "(?i)", false
	for _, r := range text {
		if !escaped && unicode.IsUpper(r) {
			fold = ""
		}
		escaped = r == '\\' && !escaped
	}
	if re, err := regexp.Compile(fold + text); err == nil {
		return re
	}
	return regexp.MustCompile(fold + regexp.QuoteMeta(text))
}

// findIn adds the lines of a terminal's text that match, from the last on; false when there is
// no room or no time for more.
func findIn(ctx context.Context, r *find.SearchResult, uri ahp.URI, text string, re *regexp.Regexp, limit, around int) bool {
	lines := strings.Split(text, "\n")
	part := func(from, to int) (out []string) {
		for _, l := range lines[max(from, 0):min(to, len(lines))] {
			out = append(out, params.ClipTo(l, maxHitLine))
		}
		return out
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if i%8 == 0 && ctx.Err() != nil {
			return false
		}
		if !re.MatchString(lines[i]) {
			continue
		}
		if len(r.Items) == limit {
			return false
		}
		r.Items = append(r.Items, find.SearchHit{
			Terminal: uri, Line: len(lines) - 1 - i, Text: params.ClipTo(lines[i], maxHitLine),
			Before: part(i-around, i), After: part(i+1, i+1+around),
		})
	}
	return ctx.Err() == nil
}
