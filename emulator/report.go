package emulator

import "strings"

// StyleReport is a style as DECRQSS reports it: the parameters of SGR that make
// it from nothing, a reset in front, colours with colons as xterm writes them.
func StyleReport(s Style) string {
	s.Attrs &^= Protected
	text := strings.TrimPrefix(string(AppendStyle(nil, Style{}, s)), "\x1b[")
	text = strings.TrimPrefix(strings.TrimSuffix(text, "m"), "0;")
	out := "0"
	if text == "" {
		return out
	}
	for parts := strings.Split(text, ";"); len(parts) > 0; {
		n := 1
		switch {
		case parts[0] != "38" && parts[0] != "48" || len(parts) < 3:
		case parts[1] == "5":
			n = 3
		case parts[1] == "2" && len(parts) >= 5:
			n = 5
			parts[1] = "2:" // The colour space, left out.
		}
		out += ";" + strings.Join(parts[:n], ":")
		parts = parts[n:]
	}
	return out
}
