package taskcmd

import (
	"strings"
	"testing"

	"tandemux/host/task/registry"
)

func TestDotenv(t *testing.T) { // U96: pull and import
	for text, want := range map[string]string{
		"":                              "",
		"A=1\nB=2":                      "A=1,B=2",
		"  A = 1 \n\n# B=2\n":           "A=1",
		"export A=1\r\nB=2\r\n":         "A=1,B=2",
		`A="x\ny"` + "\nB='x\\ny'":      "A=x\ny,B=x\\ny",
		`A="\"q\" \$x \` + "`" + `\q"`:  `A="q" $x ` + "`" + `\q`,
		"A='two\nlines'\nB=3":           "A=two\nlines,B=3",
		"A=a#b\nB=a # c\nC=# d\nD=":     "A=a#b,B=a,C=,D=",
		"A='x' # comment\nB=\"\"":       "A=x,B=",
		"A=$(rm -rf /)\nB=`x`\nC=$HOME": "A=$(rm -rf /),B=`x`,C=$HOME",
	} {
		vars, err := parseDotenv(text)
		var got []string
		for _, v := range vars {
			got = append(got, v.Name+"="+v.Value)
		}
		if err != nil || strings.Join(got, ",") != want {
			t.Errorf("%q gives %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"A=1\nwhat": "line 2: want NAME=VALUE", "A='x": "line 1: A: the quote is not closed", "\n\n1A=x": "line 3: ", "A=1\nA=2": "line 2: A: is there twice",
		`A="x" y`: "something follows", "A='1\n2\n3'\nB": "line 4", "TANDEMUX_X=1": "set by tandemux",
	} {
		if _, err := parseDotenv(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// FuzzDotenv reads whatever, and reads back what it writes.
func FuzzDotenv(f *testing.F) {
	f.Add("A=1\nB='x' # y\nexport C=\"\\n\\\"\"\n")
	f.Add("A=\"$x\\`\"")
	f.Fuzz(func(t *testing.T, text string) {
		vars, err := parseDotenv(text)
		if err != nil {
			return
		}
		var shown []registry.Variable
		for _, v := range vars {
			shown = append(shown, registry.Variable{Name: v.Name, Value: v.Value})
		}
		again, err := parseDotenv(dotenv(shown))
		if err != nil || len(again) != len(vars) {
			t.Fatalf("%q gives %v, which is written as %q and read as %v, %v", text, vars, dotenv(shown), again, err)
		}
		for i := range vars {
			if vars[i] != again[i] {
				t.Fatalf("%+v becomes %+v", vars[i], again[i])
			}
		}
	})
}
