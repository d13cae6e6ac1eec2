package strict

import "testing"

func TestMistakes(t *testing.T) {
	type form struct {
		Command []string          `toml:"command"`
		Name    string            `toml:"name"`
		On      *bool             `toml:"on"`
		Size    int               `toml:"size"`
		Vars    map[string]string `toml:"vars"`
		Sub     struct {
			Name string `toml:"name"`
		} `toml:"sub"`
	}
	for doc, want := range map[string]string{
		"name = 'x'\ncommand = ['a']": "",
		"\ncommand = './tiny'":        `line 2: command takes a list of texts, such as ["x", "y"], not a TOML string`,
		"name = 3":                    `line 1: name takes a text, such as "x", not a TOML integer`,
		"on = 'yes'":                  "line 1: on takes true or false, not a TOML string",
		"size = 'big'":                "line 1: size takes a whole number, not a TOML string",
		"nme = 'x'":                   `line 1: "nme" means nothing in a form`,
		"[sub]\nnme = 'x'":            `line 2: "sub.nme" means nothing in a form`,
		"[sub]\nname = 4":             `line 2: sub.name takes a text, such as "x", not a TOML integer`,
		"name = ":                     "line 1: ",
	} {
		err := Decode([]byte(doc), &form{}, "a form")
		if got := message(err); got != want && (want != "line 1: " || len(got) <= len(want)) {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
