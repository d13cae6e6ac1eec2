package queue

import (
	"cmp"
	"slices"
)

// Limits bound how many tasks may be at work at once; 0 is no limit.
type Limits struct {
	// Person and Project hold for each that has no limit of its own.
	Person   int            `json:"person,omitempty" flag:"person" doc:"Tasks at once of each person; 0: any number"`
	Persons  map[string]int `json:"persons,omitempty"`
	Project  int            `json:"project,omitempty" flag:"project" doc:"Tasks at once of each project; 0: any number"`
	Projects map[string]int `json:"projects,omitempty"`
	// Labels hold for the tasks that ask for a label.
	Labels map[string]int `json:"labels,omitempty"`
	// Bytes bounds the stored files of each person's tasks; 0: DefaultBytes.
	Bytes int64 `json:"bytes,omitempty"`
}

// DefaultBytes is how many bytes the files of a person's tasks may take at the hub.
const DefaultBytes = 8 << 30

// wish is a task that is at work or waits for a host.
type wish struct {
	spec *Spec
	home string
	// not has the hosts that gave the task back a moment ago.
	not map[string]bool
}

// place is a host that takes tasks.
type place struct {
	name          string
	labels        []string
	room, working int
}

// has reports whether a host may take a task: it is the task's home or, if the task has no home
// yet, it has all the labels and the agent asked for.
func (p *place) has(w wish) bool {
	if w.home != "" {
		return w.home == p.name
	}
	for _, label := range w.spec.Where {
		if !slices.Contains(p.labels, label) && label != p.name {
			return false
		}
	}
	return (w.spec.Agent == "" || slices.Contains(p.labels, w.spec.Agent)) && !w.not[p.name]
}

// counts has how many tasks are at work, by person, project and label.
type counts struct{ persons, projects, labels map[string]int }

func (c *counts) add(s *Spec) {
	c.persons[s.Person]++
	if s.Project != "" {
		c.projects[s.Project]++
	}
	for _, label := range s.Where {
		c.labels[label]++
	}
}

// over returns the name of the limit that keeps a task waiting, "" if none does.
func (c *counts) over(l Limits, s *Spec) string {
	full := func(n int, of map[string]int, name string, each int) bool {
		most, own := of[name]
		if !own {
			most = each
		}
		return most > 0 && n >= most
	}
	switch {
	case full(c.persons[s.Person], l.Persons, s.Person, l.Person):
		return s.Person + " has as many tasks at work as one may"
	case s.Project != "" && full(c.projects[s.Project], l.Projects, s.Project, l.Project):
		return "the project " + s.Project + " has as many tasks at work as it may"
	}
	for _, label := range s.Where {
		if full(c.labels[label], l.Labels, label, 0) {
			return "as many tasks as may ask for " + label + " are at work"
		}
	}
	return ""
}

// given is a task and the host that is to take it.
type given struct{ id, host string }

// pick decides which hosts are to take which tasks. working are the tasks that hosts have; waiting is
// in the order in which the tasks came.
func pick(working, waiting []wish, places []*place, l Limits) (all []given) {
	c := counts{map[string]int{}, map[string]int{}, map[string]int{}}
	for _, w := range working {
		c.add(w.spec)
	}
	for {
		best, at := -1, (*place)(nil)
		for i, w := range waiting {
			if best >= 0 && c.persons[w.spec.Person] >= c.persons[waiting[best].spec.Person] || c.over(l, w.spec) != "" {
				continue
			}
			if p := roomiest(places, w); p != nil {
				best, at = i, p
			}
		}
		if best < 0 {
			return all
		}
		w := waiting[best]
		c.add(w.spec)
		at.room--
		at.working++
		all = append(all, given{w.spec.ID, at.name})
		waiting = slices.Delete(slices.Clone(waiting), best, best+1)
	}
}

// roomiest returns, of the hosts that can take a task, the one with the most room; of equals the one
// with the fewest tasks at work.
func roomiest(places []*place, w wish) (best *place) {
	for _, p := range places {
		if p.room > 0 && p.has(w) && (best == nil || cmp.Or(cmp.Compare(p.room, best.room), -cmp.Compare(p.working, best.working)) > 0) {
			best = p
		}
	}
	return best
}
