package host

import (
	"cmp"
	"maps"
	"slices"
)

// origins are the dispatches of one client that a channel has accepted, as
// ranges of clientSeq, so that a next host carries none out twice (AHP, Lifecycle).
// Of very scattered ones the gaps between the oldest count as accepted.
type origins struct {
	// Since is the window that they belong to: client.since.
	Since int64 `json:"since"`
	// Newest is the number of the action that came of the latest.
	Newest int64      `json:"newest"`
	Ranges [][2]int64 `json:"ranges"` // ascending, first and last of each
}

const (
	// maxRanges bounds origins.Ranges, maxOrigins the clients that a channel
	// remembers: those that dispatched last.
	maxRanges  = 64
	maxOrigins = 64
)

// add notes a clientSeq.
func (o *origins) add(seq int64) {
	n := len(o.Ranges)
	if n > 0 && o.Ranges[n-1][1]+1 == seq { // nearly always
		o.Ranges[n-1][1] = seq
		return
	}
	i, in := slices.BinarySearchFunc(o.Ranges, seq, func(r [2]int64, s int64) int {
		switch {
		case s < r[0]:
			return 1
		case s > r[1]:
			return -1
		}
		return 0
	})
	if in {
		return
	}
	o.Ranges = slices.Insert(o.Ranges, i, [2]int64{seq, seq})
	if i+1 < len(o.Ranges) && o.Ranges[i+1][0] == seq+1 {
		o.Ranges[i][1] = o.Ranges[i+1][1]
		o.Ranges = slices.Delete(o.Ranges, i+1, i+2)
	}
	if i > 0 && o.Ranges[i-1][1]+1 == seq {
		o.Ranges[i-1][1] = o.Ranges[i][1]
		o.Ranges = slices.Delete(o.Ranges, i, i+1)
	}
	if len(o.Ranges) > maxRanges {
		o.Ranges[1][0] = o.Ranges[0][0]
		o.Ranges = slices.Delete(o.Ranges, 0, 1)
	}
}

// each calls f with the latest clientSeqs, most at most, ascending.
func (o *origins) each(most int64, f func(seq int64)) {
	skip := -most
	for _, r := range o.Ranges {
		skip += r[1] - r[0] + 1
	}
	for _, r := range o.Ranges {
		from := r[0]
		if skip > 0 {
			n := min(skip, r[1]-r[0]+1)
			from, skip = from+n, skip-n
		}
		for s := from; s <= r[1]; s++ {
			f(s)
		}
	}
}

// accepted are the origins of a channel by clientId.
type accepted map[string]*origins

// note remembers that a client's dispatch was accepted, as the action of a
// number.
func (a *accepted) note(id string, since, clientSeq, seq int64) {
	if *a == nil {
		*a = accepted{}
	}
	o := (*a)[id]
	if o == nil {
		a.bound()
		o = &origins{Since: since}
		(*a)[id] = o
	}
	if o.Since != since {
		*o = origins{Since: since}
	}
	o.Newest = seq
	o.add(clientSeq)
}

// set takes what a checkpoint had, unless it makes no sense.
func (a *accepted) set(id string, o origins) {
	last := int64(0)
	for _, r := range o.Ranges {
		if r[0] <= last || r[1] < r[0] || r[1] > maxSeq {
			return
		}
		last = r[1]
	}
	if len(o.Ranges) > maxRanges || len(*a) >= maxOrigins {
		return
	}
	if *a == nil {
		*a = accepted{}
	}
	(*a)[id] = &o
}

// remove takes a dispatch out: it had no effect.
func (a accepted) remove(id string, clientSeq int64) {
	o := a[id]
	if o == nil {
		return
	}
	for i, r := range o.Ranges {
		if clientSeq < r[0] || clientSeq > r[1] {
			continue
		}
		var parts [][2]int64
		if r[0] < clientSeq {
			parts = append(parts, [2]int64{r[0], clientSeq - 1})
		}
		if clientSeq < r[1] {
			parts = append(parts, [2]int64{clientSeq + 1, r[1]})
		}
		o.Ranges = slices.Replace(o.Ranges, i, i+1, parts...)
		return
	}
}

// bound makes room for one more.
func (a *accepted) bound() {
	if len(*a) < maxOrigins {
		return
	}
	ids := slices.SortedFunc(maps.Keys(*a), func(x, y string) int { return cmp.Compare((*a)[x].Newest, (*a)[y].Newest) })
	for _, id := range ids[:maxOrigins/4] {
		delete(*a, id)
	}
}

// values are those of a checkpoint.
func (a accepted) values() map[string]origins {
	m := make(map[string]origins, len(a))
	for id, o := range a {
		m[id] = *o
	}
	return m
}
