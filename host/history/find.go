package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"tandemux/ahp/find"
)

// defaultFound and maxFound bound what is found.
const (
	defaultFound = 1000
	maxFound     = MaxCommands
)

// Find gives the commands that were asked for, the newest first. The Log may be nil.
func (l *Log) Find(p find.HistoryParams) (r find.HistoryResult, err error) {
	r.Items = []find.Command{}
	if l == nil {
		return r, nil
	}
	l.Write() //nolint:errcheck // it was told
	l.file.Lock()
	b, err := l.read()
	l.mu.Lock()
	most := l.most
	b = append(b, bytes.Join(l.waiting, []byte{'\n'})...)
	l.mu.Unlock()
	l.file.Unlock()
	if err != nil {
		return r, err
	}
	limit := min(p.Limit, maxFound)
	if limit <= 0 {
		limit = defaultFound
	}
	words := make([][]byte, 0, len(p.Words))
	for _, w := range p.Words {
		words = append(words, []byte(strings.ToLower(w)))
	}
	b = bytes.TrimRight(b, "\n")
	for range most {
		if len(b) == 0 {
			break
		}
		at := bytes.LastIndexByte(b, '\n') + 1
		line := b[at:]
		b = b[:max(at-1, 0)]
		var c find.Command
		if json.Unmarshal(line, &c) != nil || !wanted(&c, p, words) {
			continue // a line that a full disk cut is none
		}
		if len(r.Items) == limit {
			r.More = true
			break
		}
		r.Items = append(r.Items, c)
	}
	return r, nil
}

// wanted reports whether a command is one that was asked for.
func wanted(c *find.Command, p find.HistoryParams, words [][]byte) bool {
	if p.Failed && (c.ExitCode == nil || *c.ExitCode == 0) || p.Cwd != "" && c.Cwd != p.Cwd {
		return false
	}
	line := bytes.ToLower([]byte(c.CommandLine))
	return !slices.ContainsFunc(words, func(w []byte) bool { return !bytes.Contains(line, w) })
}
