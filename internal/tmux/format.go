package tmux

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tandemux/internal/fileuri"
	"tandemux/ui/layout"
)

// maxFormat bounds how deep formats lie in formats.
const maxFormat = 50

// view is what a format is about.
type view struct {
	spot
	area layout.Rect // of the window; empty where it isn't known
}

// formats are the variables that are known, by name.
var formats = map[string]func(v view) string{
	"session_name":    func(v view) string { return v.session.name },
	"session_id":      func(v view) string { return v.session.id },
	"session_windows": func(v view) string { return strconv.Itoa(len(v.session.windows)) },
	"window_id":       func(v view) string { return v.window.id },
	"window_index":    func(v view) string { return strconv.Itoa(v.window.at + 1) },
	"window_name":     func(v view) string { return v.window.name },
	"window_active":   func(v view) string { return flag(v.window.active) },
	"window_panes":    func(v view) string { return strconv.Itoa(len(v.window.panes)) },
	"window_width":    func(v view) string { return strconv.Itoa(v.area.W) },
	"window_height":   func(v view) string { return strconv.Itoa(v.area.H) },

	"window_zoomed_flag": func(v view) string { return flag(v.tab().Zoom) },

	"pane_id":           func(v view) string { return v.pane.id },
	"pane_index":        func(v view) string { return strconv.Itoa(v.pane.at) },
	"pane_active":       func(v view) string { return flag(v.pane.active) },
	"pane_title":        func(v view) string { return v.pane.title() },
	"pane_dead":         func(v view) string { return flag(v.pane.terminal.Lifecycle.Exited()) },
	"pane_dead_status":  deadStatus,
	"pane_pid":          func(v view) string { return number(v.pane.terminal.Meta.Pid) },
	"pane_current_path": func(v view) string { return fileuri.Path(v.pane.terminal.Meta.Cwd) },
	"pane_width":        func(v view) string { return strconv.Itoa(v.rect().W) },
	"pane_height":       func(v view) string { return strconv.Itoa(v.rect().H) },
	"pane_left":         func(v view) string { return strconv.Itoa(v.rect().X) },
	"pane_top":          func(v view) string { return strconv.Itoa(v.rect().Y) },
	"pane_right":        func(v view) string { return strconv.Itoa(v.rect().X + v.rect().W - 1) },
	"pane_bottom":       func(v view) string { return strconv.Itoa(v.rect().Y + v.rect().H - 1) },
	"pane_in_mode":      func(view) string { return "0" }, // reading is each interface's own

	"client_control_mode": func(view) string { return "0" },
	"client_termtype":     func(view) string { return "tandemux" },
	"version":             func(view) string { return answersAs },
}

// aliases are the short forms.
var aliases = map[byte]string{'S': "session_name", 'I': "window_index", 'W': "window_name", 'P': "pane_index", 'D': "pane_id", 'T': "pane_title"}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func deadStatus(v view) string {
	if code := v.pane.terminal.Lifecycle.ExitCode; code != nil {
		return strconv.Itoa(*code)
	}
	return ""
}

// rect is where the pane is in its window.
func (v view) rect() layout.Rect {
	p, _ := v.tab().Arrange(v.area).Spot(v.pane.leaf.Pane)
	return p.Body
}

// measured reports whether a format needs the window's size.
func measured(format string) bool {
	words := []string{"_width", "_height", "_left", "_top", "_right", "_bottom"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(format, word) })
}

// expand fills a format. What is not known is an error, and not an empty place.
func (v view) expand(format string, depth int) (string, error) {
	if depth > maxFormat {
		return "", fmt.Errorf("format: more than %d within each other", maxFormat)
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '#' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; {
		case c == '#' || c == ',' || c == '}':
			b.WriteByte(c)
		case c == '{':
			end := closing(format[i+1:])
			if end < 0 {
				return "", fmt.Errorf("format %q: a } is missing", format)
			}
			text, err := v.term(format[i+1:i+1+end], depth+1)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			i += end + 1
		case c == '[': // a style: nothing is drawn here
			end := strings.IndexByte(format[i:], ']')
			if end < 0 {
				return "", fmt.Errorf("format %q: a ] is missing", format)
			}
			i += end
		case aliases[c] != "":
			b.WriteString(formats[aliases[c]](v))
		default:
			return "", fmt.Errorf("format #%c is not known here", c)
		}
	}
	return b.String(), nil
}

// closing is where the brace ends that begins before s, -1 for nowhere.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '#' && i+1 < len(s) && s[i+1] != '{':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}' && depth == 0:
			return i
		case s[i] == '}':
			depth--
		}
	}
	return -1
}

// operands takes apart what commas divide, outside of braces.
func operands(s string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '#' && i+1 < len(s) && s[i+1] != '{':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		case s[i] == ',' && depth == 0:
			all, from = append(all, s[from:i]), i+1
		}
	}
	return append(all, s[from:])
}

// compare are the operators on two texts.
var compare = map[string]func(a, b string) bool{
	"==": func(a, b string) bool { return a == b },
	"!=": func(a, b string) bool { return a != b },
	"&&": func(a, b string) bool { return truth(a) && truth(b) },
	"||": func(a, b string) bool { return truth(a) || truth(b) },
}

func truth(s string) bool { return s != "" && s != "0" }

// term is what stands in #{…}.
func (v view) term(s string, depth int) (string, error) {
	if rest, is := strings.CutPrefix(s, "?"); is {
		parts := operands(rest)
		if len(parts) < 2 || len(parts) > 3 {
			return "", fmt.Errorf("format #{%s}: want a condition and one or two texts", s)
		}
		condition := parts[0]
		if !strings.Contains(condition, "#{") {
			condition = "#{" + condition + "}"
		}
		yes, err := v.expand(condition, depth)
		if err != nil {
			return "", err
		}
		parts = append(parts, "")
		if truth(yes) {
			return v.expand(parts[1], depth)
		}
		return v.expand(parts[2], depth)
	}
	if operator, rest, is := strings.Cut(s, ":"); is {
		return v.operate(operator, rest, depth)
	}
	value, ok := formats[s]
	if !ok {
		return "", fmt.Errorf("format #{%s} is not known here", s)
	}
	return value(v), nil
}

// operate is an operator before a colon.
func (v view) operate(operator, rest string, depth int) (string, error) {
	if is := compare[operator]; is != nil {
		parts := operands(rest)
		if len(parts) != 2 {
			return "", fmt.Errorf("format #{%s:%s}: want two texts", operator, rest)
		}
		a, err := v.expand(parts[0], depth)
		if err != nil {
			return "", err
		}
		b, err := v.expand(parts[1], depth)
		return flag(is(a, b)), err
	}
	if operator == "l" {
		return rest, nil
	}
	text, err := v.term(rest, depth)
	if err != nil {
		return "", err
	}
	switch n, err := strconv.Atoi(strings.TrimPrefix(operator, "=")); {
	case operator == "b":
		return path.Base(text), nil
	case operator == "d":
		return path.Dir(text), nil
	case strings.HasPrefix(operator, "=") && err == nil:
		r := []rune(text)
		if n < 0 {
			return string(r[max(0, len(r)+n):]), nil
		}
		return string(r[:min(n, len(r))]), nil
	}
	return "", fmt.Errorf("format #{%s:…} is not known here", operator)
}
