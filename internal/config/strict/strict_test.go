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
		"\ncommand = './tiny'":        `line 2: command takes a list of texts, such as ["x", "y"], not a text`,
		"name = 3":                    `line 1: name takes a text, such as "x", not a whole number`,
		"on = 'yes'":                  "line 1: on takes true or false, not a text",
		"name = [1]":                  `line 1: name takes a text, such as "x", not a list`,
		"name = true":                 `line 1: name takes a text, such as "x", not true or false`,
		"name = {}":                   `line 1: name takes a text, such as "x", not a table`,
		"size = 'big'":                "line 1: size takes a whole number, not a text",
		"nme = 'x'":                   `line 1: "nme" means nothing in a form`,
		"[sub]\nnme = 'x'":            `line 2: "sub.nme" means nothing in a form`,
		"[sub]\nname = 4":             `line 2: sub.name takes a text, such as "x", not a whole number`,
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
