package shell

import (
	"bytes"
	"crypto/subtle"
	"net/url"
	"strconv"
	"strings"
)

// Parse reads the body of an OSC, which is what lies between "ESC ]" and BEL or
// ST. It reports false when that is no shell mark and so has to stay in the
// stream: titles, links, the clipboard, images, and OSC 9;9 and 3008, which are
// treated as titles are. Marks that mean nothing to us are Ignored. The nonce is
// the terminal's, "" if its shell was not injected. Bytes of any kind are
// accepted; nothing of body is kept.
func Parse(body []byte, nonce string) (m Mark, ours bool) {
	number, rest, _ := bytes.Cut(body, []byte{';'})
	parse := numbers[string(number)]
	if parse == nil {
		return Mark{}, false
	}
	if len(body) > MaxBody {
		rest = nil
		if string(number) == "1337" {
			return Mark{}, false // Most likely an image.
		}
	}
	return parse(string(rest), nonce)
}

// numbers are the OSCs that are marks (docs/from-tmux.md).
var numbers = map[string]func(rest, nonce string) (Mark, bool){
	"7":    parseURI,
	"133":  parseFinalTerm,
	"633":  parseVSCode,
	"1337": parseITerm,
	"7501": parseOwn,
}

// parseOwn reads "NONCE;MARK".
func parseOwn(rest, nonce string) (Mark, bool) {
	given, rest, _ := strings.Cut(rest, ";")
	if nonce == "" || subtle.ConstantTimeCompare([]byte(given), []byte(nonce)) != 1 {
		return Mark{}, true
	}
	m := letters(rest, true)
	if dir, is := strings.CutPrefix(rest, "W;"); is {
		m = directory(dir, "")
	}
	m.Trusted = m.Kind != Ignored
	return m, true
}

func parseVSCode(rest, _ string) (Mark, bool) { return letters(rest, false), true }

// letters reads what follows 633.
func letters(rest string, trusted bool) Mark {
	letter, rest, more := strings.Cut(rest, ";")
	switch letter {
	case "A":
		number, ends, _ := strings.Cut(rest, ";")
		return Mark{Kind: Prompt, ID: id(number, trusted), Ends: trusted && ends == "e"}
	case "B":
		return Mark{Kind: Input}
	case "C":
		return Mark{Kind: Execute, ID: id(rest, trusted)}
	case "D":
		return done(rest)
	case "E":
		text, _, _ := strings.Cut(rest, ";")
		if !more {
			return Mark{}
		}
		return withText(Mark{Kind: Line}, unescape(text), trusted)
	case "F":
		return Mark{Kind: Secondary}
	case "G":
		return Mark{Kind: SecondaryEnd}
	case "P":
		if path, ok := strings.CutPrefix(rest, "Cwd="); ok {
			return directory(unescape(path), "")
		}
	}
	return Mark{}
}

// id reads the number that only our own marks have.
func id(rest string, trusted bool) uint64 {
	if !trusted || rest == "" { // an error of what is not there is made in vain
		return 0
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// parseFinalTerm reads what follows 133.
func parseFinalTerm(rest, _ string) (Mark, bool) {
	letter, rest, _ := strings.Cut(rest, ";")
	switch letter {
	case "A", "P":
		return promptOf(rest), true
	case "B":
		return Mark{Kind: Input}, true
	case "C":
		return executeOf(rest), true
	case "D":
		return done(rest), true
	}
	return Mark{}, true
}

// promptOf reads the options of a prompt: k=s is a secondary one, k=r stands at
// the right and says nothing.
func promptOf(options string) Mark {
	for option := range strings.SplitSeq(options, ";") {
		switch option {
		case "k=s", "k=c":
			return Mark{Kind: Secondary}
		case "k=r":
			return Mark{}
		}
	}
	return Mark{Kind: Prompt}
}

// executeOf reads the command line that may come with an execution. What
// cmdline= has may contain semicolons, so it is the last.
func executeOf(options string) Mark {
	m := Mark{Kind: Execute}
	for options != "" {
		if quoted, ok := strings.CutPrefix(options, "cmdline="); ok {
			if text, ok := unquote(quoted); ok {
				return withText(m, text, false)
			}
			return m
		}
		option, rest, _ := strings.Cut(options, ";")
		if encoded, ok := strings.CutPrefix(option, "cmdline_url="); ok {
			if text, err := url.PathUnescape(encoded); err == nil {
				return withText(m, text, false)
			}
			return m
		}
		options = rest
	}
	return m
}

// done reads "STATUS;…"; anything but a number leaves the status unknown.
func done(rest string) Mark {
	field, _, _ := strings.Cut(rest, ";")
	n, err := strconv.ParseInt(field, 10, 32)
	if err != nil {
		return Mark{Kind: Done}
	}
	return Mark{Kind: Done, Exit: int(n), HasExit: true}
}

// withText adds a command line to m, unless it is too long to be taken.
func withText(m Mark, text string, trusted bool) Mark {
	if len(text) > MaxText {
		return m
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !trusted {
		text = strings.Map(func(r rune) rune {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, text)
	}
	m.Text, m.HasText = text, true
	return m
}

// directory makes a mark of an absolute path.
func directory(path, host string) Mark {
	controls := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
	}
	if !strings.HasPrefix(path, "/") || len(path) > MaxDir || len(host) > maxHost || controls(path) || controls(host) {
		return Mark{}
	}
	return Mark{Kind: Directory, Text: path, Host: host}
}

// parseURI reads the working directory: a file URI, percent-encoded, or
// kitty's own, which is not.
func parseURI(rest, _ string) (Mark, bool) {
	body, encoded := strings.CutPrefix(rest, "file://")
	if !encoded {
		var ok bool
		if body, ok = strings.CutPrefix(rest, "kitty-shell-cwd://"); !ok {
			return Mark{}, true
		}
	}
	slash := strings.IndexByte(body, '/')
	if slash < 0 || len(body) > maxHost+3*MaxDir {
		return Mark{}, true
	}
	host, path := body[:slash], body[slash:]
	if encoded {
		var err error
		if path, err = url.PathUnescape(path); err != nil {
			return Mark{}, true
		}
	}
	return directory(path, host), true
}

// pictures begin the OSC 1337s that are for the screen.
var pictures = []string{"File=", "MultipartFile=", "FilePart=", "FileEnd"}

// parseITerm reads what follows 1337: marks and questions, but for pictures.
func parseITerm(rest, _ string) (Mark, bool) {
	for _, p := range pictures {
		if strings.HasPrefix(rest, p) {
			return Mark{}, false
		}
	}
	if path, ok := strings.CutPrefix(rest, "CurrentDir="); ok {
		return directory(path, ""), true
	}
	if who, ok := strings.CutPrefix(rest, "RemoteHost="); ok {
		_, host, _ := strings.Cut(who, "@")
		if host != "" && len(host) <= maxHost {
			return Mark{Kind: Remote, Host: host}, true
		}
	}
	return Mark{}, true
}
