package shell

import "testing"

func TestProgram(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"htop":                               "htop",
		"  /usr/bin/vim -R a b ":             "vim",
		"./run.sh":                           "run.sh",
		"A=1 B='x' make -j4":                 "make",
		"sudo htop":                          "htop",
		"sudo -u bob htop":                   "sudo",
		"env LC_ALL=C less x":                "less",
		"time":                               "time",
		"A=1":                                "",
		"":                                   "",
		"cd app && npm run dev":              "",
		"for i in 1 2":                       "",
		"$EDITOR x":                          "",
		"seq 1 500 | less":                   "seq | less",
		"A=1 grep -v 'a b' x|sort|head -n 3": "grep | sort | head",
		`grep "a|b" x`:                       "",
		`echo it\'s | cat`:                   "",
		"grep don't x":                       "grep",
		"make 2>&1 | tee log":                "",
		"a || b":                             "",
		"ps | while read x":                  "",
		"~/bin/x":                            "",
		"printf 'one\ntwo'":                  "",
		"git commit -m 'a message'":          "git",
		"curl 'http://h/?a=1#there'":         "curl",
	} {
		if got := Program(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{"sort x | uniq": "sort", "make": "make", "(cd x; y)": ""} {
		if got := FirstProgram(line); got != want {
			t.Errorf("first of %q: %q, want %q", line, got, want)
		}
	}
}
