package themes

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/internal/spelling"
)

// Auto is the choice of the default family, light or dark as the outer terminal
// is; Terminal is the theme of the outer terminal's own sixteen colours.
const (
	Auto     = "auto"
	Terminal = "terminal"
)

// Pair is what a person chose: a theme for dark outer terminals and one for
// light ones, which may be the same.
type Pair struct {
	Name        string // as it was chosen
	Dark, Light Theme
}

// For gives the theme for an outer terminal that is dark or light.
func (p Pair) For(dark bool) Theme {
	if dark {
		return p.Dark
	}
	return p.Light
}

// Choose reads a choice of themes:
//
//	"auto", ""                          the default family
//	"nord"                              a family: nord-dark or nord-light
//	"nord-dark"                         one theme, whatever the outer terminal is
//	"dark:nord-dark,light:tandemux-light"  one for each
//
// Names are those that ship and the user's, of which the user's come first.
func Choose(choice string, user []Theme) (Pair, error) {
	name := choice
	if name == "" || name == Auto {
		name = shipped[0][:strings.LastIndexByte(shipped[0], '-')]
	}
	if p, ok := choose(name, user); ok {
		p.Name = choice
		return p, nil
	}
	if strings.Contains(name, ":") {
		return chooseBoth(name, user)
	}
	return Pair{}, noTheme(name, user)
}

// choose finds a theme or a family.
func choose(name string, user []Theme) (Pair, bool) {
	if t, ok := among(name, user); ok {
		return Pair{Dark: t, Light: t}, true
	}
	dark, okDark := among(name+"-dark", user)
	light, okLight := among(name+"-light", user)
	return Pair{Dark: dark, Light: light}, okDark && okLight
}

// chooseBoth reads "dark:NAME,light:NAME".
func chooseBoth(choice string, user []Theme) (Pair, error) {
	p := Pair{Name: choice}
	var has [2]bool
	for _, part := range strings.Split(choice, ",") {
		which, name, _ := strings.Cut(strings.TrimSpace(part), ":")
		t, ok := among(strings.TrimSpace(name), user)
		switch which {
		case "dark":
			p.Dark, has[0] = t, true
		case "light":
			p.Light, has[1] = t, true
		default:
			return Pair{}, fmt.Errorf(`%q: write "dark:NAME,light:NAME"`, short(choice))
		}
		if !ok {
			return Pair{}, noTheme(strings.TrimSpace(name), user)
		}
	}
	if !has[0] || !has[1] {
		return Pair{}, fmt.Errorf(`%q names one of two themes; write "dark:NAME,light:NAME"`, short(choice))
	}
	return p, nil
}

func among(name string, user []Theme) (Theme, bool) {
	if i := slices.IndexFunc(user, func(t Theme) bool { return t.Name == name }); i >= 0 {
		return user[i], true
	}
	return Find(name)
}

// Choices gives what can be chosen by name: "auto", the user's families and
// themes, those that ship.
func Choices(user []Theme) []string {
	names := make([]string, len(user))
	for i, t := range user {
		names[i] = t.Name
	}
	slices.Sort(names)
	out := []string{Auto}
	for _, list := range [...][]string{names, shipped} {
		for _, name := range list {
			family, isDark := strings.CutSuffix(name, "-dark")
			if _, both := choose(family, user); isDark && both && !slices.Contains(out, family) {
				out = append(out, family)
			}
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// noTheme says that there is no such theme, and which one may be meant.
func noTheme(name string, user []Theme) error {
	all := Choices(user)
	if near := spelling.Closest(name, all); near != "" {
		return fmt.Errorf("there is no theme %q; did you mean %q?", short(name), near)
	}
	return fmt.Errorf("there is no theme %q; there are %s", short(name), strings.Join(all, ", "))
}

// short bounds what is quoted of a user's text.
func short(s string) string {
	if len(s) > maxName {
		return s[:maxName] + "…"
	}
	return s
}
