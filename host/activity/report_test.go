package activity

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
)

func TestProgramStatus(t *testing.T) {
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		name    string
		reports []string
		want    string // state app kind text progress
	}{
		{"one", []string{"state=working:app=cargo:progress=40"}, "working cargo   40"},
		{"replaced whole", []string{"state=working:app=cargo:progress=40", "state=done"}, "done    "},
		{"text", []string{"state=blocked:kind=permission:msg=" + text("Apply?")}, "blocked  permission Apply? "},
		{"without padding", []string{"state=error:msg=" + strings.TrimRight(text("no!!"), "=")}, "error   no!! "},
		{"a child matters more", []string{"state=working:app=deploy", "state=blocked:id=us/east:kind=auth", "state=idle:id=us"}, "blocked deploy auth  "},
		{"the newest of two", []string{"state=done:id=a:app=x", "state=done:id=b:app=y"}, "done y   "},
		{"cleared with what is below", []string{"state=idle:app=z", "state=error:id=a/b", "state=clear:id=a"}, "idle z   "},
		{"cleared", []string{"state=idle", "state=error:id=a", "state=clear"}, "none"},
		{"unknown members", []string{"state=idle:app=a:new=1"}, "idle a   "},
		{"unknown state", []string{"state=idle:app=a", "state=dancing"}, "idle a   "},
		{"bad text", []string{"state=idle:app=a", "state=done:msg=***", "state=done:msg=" + text("\x1b[2J")}, "idle a   "},
		{"bad progress", []string{"state=idle:app=a", "state=working:progress=101"}, "idle a   "},
		{"bad id", []string{"state=idle:app=a", "state=working:id=a b"}, "idle a   "},
		{"twice", []string{"state=idle:app=a", "state=done:state=error"}, "idle a   "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r reports
			for i, body := range c.reports {
				r.report(body, int64(i))
			}
			if got := statusText(r.top()); got != c.want {
				t.Errorf("%q is %q, want %q", c.reports, got, c.want)
			}
		})
	}
}

func statusText(s *ahp.ProgramStatus) string {
	if s == nil {
		return "none"
	}
	progress := ""
	if s.Progress != nil {
		progress = fmt.Sprint(*s.Progress)
	}
	return fmt.Sprintf("%s %s %s %s %s", s.State, s.App, s.Kind, s.Text, progress)
}

func TestProgramStatusIsBounded(t *testing.T) {
	var r reports
	for i := range 3 * maxRecords {
		r.report(fmt.Sprintf("state=working:id=%d", i), int64(i))
	}
	if len(r.list) != maxRecords || r.list[0].id != fmt.Sprint(2*maxRecords) {
		t.Errorf("%d records from %s on", len(r.list), r.list[0].id)
	}
	if r.ended(); r.top() != nil {
		t.Errorf("after the end %+v", r.top())
	}
}

func TestProgressOfOldPrograms(t *testing.T) {
	var r reports
	for _, c := range []struct{ body, want string }{
		{"1;30", "working    30"}, {"3", "working    "}, {"2;30", "error    30"}, {"9;1", "error    30"}, {"0", "none"},
	} {
		r.progress(c.body, 1)
		if got := statusText(r.top()); got != c.want {
			t.Errorf("after %q: %q, want %q", c.body, got, c.want)
		}
	}
}

// The time is when the state began.
func TestProgramStatusSince(t *testing.T) {
	var r reports
	r.report("state=working:progress=1", 10)
	r.report("state=working:progress=2", 20)
	if at := r.top().At; at != 10 {
		t.Errorf("working since %d", at)
	}
	r.report("state=blocked", 30)
	if at := r.top().At; at != 30 {
		t.Errorf("blocked since %d", at)
	}
}
