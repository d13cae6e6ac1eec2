package activity

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandemux/ahp"
)

// Bounds of the Program Status Protocol (OSC 7501, revision 0.4).
const (
	maxRecords   = 256
	maxStatusID  = 256
	maxStatusApp = 64
)

// reports are what the programs of a terminal say of themselves. A report
// replaces the record that it names, one for the whole program where it names
// none; clearing a record clears those below it.
type reports struct {
	list []statusRecord // the least recently reported first
}

// statusRecord is one of them. Its id is a path such as "build/tests".
type statusRecord struct {
	id     string
	status ahp.ProgramStatus
}

// report takes the body of an OSC 7501 behind its number, at a time in Unix
// milliseconds, and reports whether anything changed. What breaks a rule of the
// protocol is dropped whole.
func (r *reports) report(body string, at int64) bool {
	fields := map[string]string{}
	for f := range strings.SplitSeq(body, ":") {
		k, v, ok := strings.Cut(f, "=")
		if _, twice := fields[k]; !ok || twice {
			return false
		}
		fields[k] = v
	}
	id := fields["id"]
	if len(id) > maxStatusID || len(fields["app"]) > maxStatusApp || !isStatusName(id) || !isStatusName(fields["app"]) {
		return false
	}
	if fields["state"] == "clear" {
		// It and those below it; all for "".
		n := len(r.list)
		r.list = slices.DeleteFunc(r.list, func(old statusRecord) bool {
			return id == "" || old.id == id || strings.HasPrefix(old.id, id+"/")
		})
		return len(r.list) != n
	}
	s, ok := readStatus(fields)
	if !ok {
		return false
	}
	i := slices.IndexFunc(r.list, func(old statusRecord) bool { return old.id == id })
	s.At = at
	if i >= 0 {
		if old := r.list[i].status; old.State == s.State && old.Kind == s.Kind {
			s.At = old.At
		}
		r.list = slices.Delete(r.list, i, i+1)
	} else if len(r.list) >= maxRecords {
		r.list = slices.Delete(r.list, 0, 1)
	}
	r.list = append(r.list, statusRecord{id, s})
	return true
}

var (
	statusStates = []string{ahp.StatusBlocked, ahp.StatusError, ahp.StatusWorking, ahp.StatusDone, ahp.StatusIdle} // by weight
	statusKinds  = []string{"", "permission", "question", "auth"}
)

// readStatus reads a report; false for one that can't be one.
func readStatus(f map[string]string) (s ahp.ProgramStatus, ok bool) {
	s = ahp.ProgramStatus{State: f["state"], App: f["app"]}
	if !slices.Contains(statusStates, s.State) {
		return s, false
	}
	if s.State == ahp.StatusBlocked && slices.Contains(statusKinds, f["kind"]) {
		s.Kind = f["kind"]
	}
	for _, text := range []struct {
		from string
		to   *string
	}{{f["title"], &s.Title}, {f["msg"], &s.Text}} {
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text.from, "="))
		if err != nil || len(b) > ahp.MaxNote || !utf8.Valid(b) || strings.ContainsFunc(string(b), unicode.IsControl) {
			return s, false
		}
		*text.to = string(b)
	}
	if p, given := f["progress"]; given {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 100 {
			return s, false
		}
		s.Progress = &n
	}
	return s, true
}

// isStatusName reports whether s can be an app or a record's id.
func isStatusName(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./", c))
	})
}

// progress takes the body of an OSC 9;4: "STATE;PERCENT", where 0 takes it away,
// 1 sets a percentage, 2 is an error, 3 is of unknown length and 4 paused. It is
// the record of a program that does not know OSC 7501.
func (r *reports) progress(body string, at int64) bool {
	state, percent, _ := strings.Cut(body, ";")
	report, known := map[string]string{
		"0": "state=clear:id=" + conEmu, "1": "state=working:id=" + conEmu, "2": "state=error:id=" + conEmu,
		"3": "state=working:id=" + conEmu, "4": "state=working:id=" + conEmu,
	}[state]
	if !known {
		return false
	}
	if n, err := strconv.Atoi(percent); err == nil && n >= 0 && n <= 100 && state != "0" && state != "3" {
		report += ":progress=" + percent
	}
	return r.report(report, at)
}

// conEmu is the id of the record that OSC 9;4 sets.
const conEmu = "osc9"

// ended drops what no program does any more: a prompt shows, or the process has
// ended. What it came to stays.
func (r *reports) ended() bool {
	n := len(r.list)
	r.list = slices.DeleteFunc(r.list, func(old statusRecord) bool {
		return passing(old.status.State) || old.id == conEmu
	})
	return len(r.list) != n
}

// passing reports whether a state is over with the program that is in it.
func passing(state string) bool { return state == ahp.StatusWorking || state == ahp.StatusBlocked }

// top is the record that matters most: by its state, then the newest; nil when
// there is none. An app that it does not name is that of a record above it.
func (r *reports) top() *ahp.ProgramStatus {
	var best *statusRecord
	for i := range r.list {
		now := &r.list[i]
		if best == nil || slices.Index(statusStates, now.status.State) <= slices.Index(statusStates, best.status.State) {
			best = now
		}
	}
	if best == nil {
		return nil
	}
	s := best.status
	for id := best.id; s.App == "" && id != ""; {
		i := strings.LastIndexByte(id, '/')
		id = id[:max(i, 0)]
		for _, above := range r.list {
			if above.id == id {
				s.App = above.status.App
			}
		}
	}
	return &s
}
