package terminal

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What programs want a person to know is told to the holder, bounded, and a
// program that asks whether its reports are read is told so once.
func TestNoticed(t *testing.T) {
	t.Parallel()
	h := start(t, `stty raw -echo; printf 'a\007\007\033]9;built\007\033]777;notify;CI;red\033\\'
		printf '\033]7501;?\033\\'; IFS= read -rs -d '\' x; printf '<%q>' "$x"
		printf '\033]7501;state=working:app=cargo:progress=40\033\\\033]9;4;1;20\007\033]133;A\007b'`, startOptions{})
	h.exited()
	h.see(`<$'\E]7501;?\E'>`)
	h.mu.Lock()
	defer h.mu.Unlock()
	var all Noticed
	for _, a := range h.actions {
		if n, ok := a.(Noticed); ok {
			all.Bell = all.Bell || n.Bell
			all.Notes = append(all.Notes, n.Notes...)
			all.Reports = append(all.Reports, n.Reports...)
		}
	}
	if !all.Bell || len(all.Notes) != 2 || all.Notes[0].Text != "built" || all.Notes[1].Name != "CI" || all.Notes[1].Text != "red" {
		t.Errorf("noticed %+v", all)
	}
	if want := []Report{{Body: "state=working:app=cargo:progress=40"}, {Progress: true, Body: "1;20"}}; !slices.Equal(all.Reports, want) {
		t.Errorf("reports %+v, want %+v", all.Reports, want)
	}
	if out := h.data.String(); strings.Contains(out, "\x1b]7501") {
		t.Errorf("viewers got %q", out)
	}
}

func TestNoticesAreBounded(t *testing.T) {
	t.Parallel()
	h := start(t, `for i in {1..3000}; do printf '\033]9;note %d\007\033]7501;state=done:id=%d\007\007' $i $i; done; read x`, startOptions{manual: true})
	h.await("output", func() bool { return len(h.wakes) > 0 })
	for {
		h.term.queue.mu.Lock()
		n := h.term.pending.noticed
		last := n != nil && len(n.Notes) > 0 && n.Notes[len(n.Notes)-1].Text == "note 3000"
		if n != nil && (len(n.Notes) > maxNotices || len(n.Reports) > maxReports) {
			t.Fatalf("%d notes and %d reports wait", len(n.Notes), len(n.Reports))
		}
		h.term.queue.mu.Unlock()
		if last {
			return
		}
		runtime.Gosched()
	}
}
