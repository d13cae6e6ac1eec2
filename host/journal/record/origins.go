package record

import (
	"cmp"
	"maps"
	"slices"
)

// Origins are the dispatches of one client that a channel has accepted, as
// ranges of clientSeq, so that a next host carries none out twice (AHP, Lifecycle).
// Of very scattered ones the gaps between the oldest count as accepted.
type Origins struct {
	// Since is the window that they belong to: the host's, of a client.
	Since int64 `json:"since"`
	// Newest is the number of the action that came of the latest.
	Newest int64      `json:"newest"`
	Ranges [][2]int64 `json:"ranges"` // ascending, first and last of each
}

const (
	// maxRanges bounds Origins.Ranges, maxOrigins the clients that a channel
	// remembers: those that dispatched last.
	maxRanges  = 64
	maxOrigins = 64
)

// add notes a clientSeq.
func (o *Origins) add(seq int64) {
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

// Each calls f with the latest clientSeqs, most at most, ascending.
func (o *Origins) Each(most int64, f func(seq int64)) {
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

// Accepted are the origins of a channel by clientId.
type Accepted map[string]*Origins

// Note remembers that a client's dispatch was accepted, as the action of a
// number.
func (a *Accepted) Note(id string, since, clientSeq, seq int64) {
	if *a == nil {
		*a = Accepted{}
	}
	o := (*a)[id]
	if o == nil {
		a.bound()
		o = &Origins{Since: since}
		(*a)[id] = o
	}
	if o.Since != since {
		*o = Origins{Since: since}
	}
	o.Newest = seq
	o.add(clientSeq)
}

// Set takes what a checkpoint had, unless it makes no sense.
func (a *Accepted) Set(id string, o Origins) {
	last := int64(0)
	for _, r := range o.Ranges {
		if r[0] <= last || r[1] < r[0] || r[1] > MaxSeq {
			return
		}
		last = r[1]
	}
	if len(o.Ranges) > maxRanges || len(*a) >= maxOrigins {
		return
	}
	if *a == nil {
		*a = Accepted{}
	}
	(*a)[id] = &o
}

// Remove takes a dispatch out: it had no effect.
func (a Accepted) Remove(id string, clientSeq int64) {
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
func (a *Accepted) bound() {
	if len(*a) < maxOrigins {
		return
	}
	ids := slices.SortedFunc(maps.Keys(*a), func(x, y string) int { return cmp.Compare((*a)[x].Newest, (*a)[y].Newest) })
	for _, id := range ids[:maxOrigins/4] {
		delete(*a, id)
	}
}

// Values are those of a checkpoint.
func (a Accepted) Values() map[string]Origins {
	m := make(map[string]Origins, len(a))
	for id, o := range a {
		m[id] = *o
	}
	return m
}
