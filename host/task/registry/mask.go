package registry

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortestSecret is what is masked: shorter ones are in half of all words.
const shortestSecret = 4

// Masker takes secrets out of text.
type Masker struct{ r *strings.Replacer }

// NewMasker masks values as they are, line by line where they have several, and as
// they are in JSON, in URLs and in base64.
func NewMasker(secrets []string) *Masker {
	var forms []string
	for _, s := range secrets {
		lines := []string{s}
		if strings.Contains(s, "\n") {
			for _, l := range strings.Split(s, "\n") {
				if l = strings.TrimSpace(l); len(l) >= 2*shortestSecret {
					lines = append(lines, l)
				}
			}
		}
		for _, l := range lines {
			text, _ := json.Marshal(l) // texts always can be
			forms = append(
				forms, l, string(text[1:len(text)-1]), url.QueryEscape(l), url.PathEscape(l),
				base64.StdEncoding.EncodeToString([]byte(l)), base64.RawURLEncoding.EncodeToString([]byte(l)),
			)
		}
	}
	forms = slices.DeleteFunc(forms, func(s string) bool { return len(s) < shortestSecret })
	// Longer ones first, so that of a secret that is part of another the whole is masked.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	forms = slices.Compact(forms)
	if len(forms) == 0 {
		return &Masker{}
	}
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, Masked)
	}
	return &Masker{strings.NewReplacer(pairs...)}
}

// Text is a text without secrets. A nil Masker changes nothing.
func (m *Masker) Text(s string) string {
	if m == nil || m.r == nil {
		return s
	}
	return m.r.Replace(s)
}
