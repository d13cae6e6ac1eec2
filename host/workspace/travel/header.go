package travel

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Bounds of a bundle's header.
const (
	maxLine  = 1 << 10
	maxLines = 10_000
)

// header is what a bundle says of itself (gitformat-bundle).
type header struct {
	format string   // of its hashes
	needs  []string // the commits that must be there
	ref    string   // the one branch that it has
	commit string   // what that is at
	size   int64    // of itself, in bytes: behind it are the objects
}

// readHeader reads one. A bundle that leaves something out of its objects, or has more than
// one branch, is none of ours.
func readHeader(from io.Reader) (h header, err error) {
	in := bufio.NewReaderSize(from, maxLine)
	bad := func(what string) error {
		return filetree.Failf(filetree.ErrInvalid, "the bundle can't be taken: %s", what)
	}
	h.format = "sha1"
	for n := 0; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || n > maxLines {
			return h, bad("its header is too long")
		}
		if err != nil {
			return h, bad("its header ends early")
		}
		h.size += int64(len(line))
		text := strings.TrimSuffix(string(line), "\n")
		word, rest, _ := strings.Cut(text, " ")
		switch {
		case n == 0:
			if text != "# v2 git bundle" && text != "# v3 git bundle" {
				return h, bad("it is no git bundle")
			}
		case text == "":
			if h.ref == "" {
				return h, bad("it has no branch")
			}
			return h, nil
		case strings.HasPrefix(text, "@"):
			format, is := strings.CutPrefix(text, "@object-format=")
			if !is || format != "sha1" && format != "sha256" {
				return h, bad("it asks for what is not known here: " + filetree.Clip(text))
			}
			h.format = format
		case strings.HasPrefix(text, "-"):
			if !commitForm().MatchString(word[1:]) {
				return h, bad("it needs what is no commit")
			}
			h.needs = append(h.needs, word[1:])
		case h.ref != "" || !commitForm().MatchString(word):
			return h, bad("it has more than one branch")
		default:
			h.commit, h.ref = word, rest
		}
	}
}
