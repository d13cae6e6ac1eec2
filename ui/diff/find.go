package diff

import (
	"fmt"
	"strings"

	"tandemux/internal/approval"
)

// Position is where the cursor is, for a search that is given up; Restore goes back.
func (v *View) Position() int { return v.at }

// Find looks for a text from the cursor on, ignoring case unless it has capitals, in what
// is not left out. It says how that went.
func (v *View) Find(text string, from int) string {
	v.find = text
	v.at = from
	v.bound()
	if text == "" || v.matches(v.at) {
		return v.found()
	}
	return v.FindNext(1)
}

// FindNext goes to the next row that has the text, or back to the one before, and around.
func (v *View) FindNext(step int) string {
	if v.find == "" {
		return "nothing was searched for yet"
	}
	n := len(v.rows)
	for i := 1; i <= n; i++ {
		if at := ((v.at+step*i)%n + n) % n; v.matches(at) {
			v.at = at
			return v.found()
		}
	}
	return "no match"
}

func (v *View) found() string {
	if v.find == "" {
		return ""
	}
	all, at := 0, 0
	for i := range v.rows {
		if v.matches(i) {
			all++
			if i <= v.at {
				at++
			}
		}
	}
	return fmt.Sprintf("%d of %d", at, all)
}

// matches reports whether a row has the text that is looked for.
func (v *View) matches(i int) bool {
	text := v.content(v.rows[i])
	if strings.ToLower(v.find) == v.find {
		text = strings.ToLower(text)
	}
	return v.find != "" && strings.Contains(text, v.find)
}

// content is what a row says that somebody may look for.
func (v *View) content(r row) string {
	switch r.kind {
	case head:
		return approval.Escape(r.file.Path)
	case line:
		return approval.Escape(r.file.text.Lines[r.from].Text)
	case note:
		return r.note.Text
	}
	return ""
}
