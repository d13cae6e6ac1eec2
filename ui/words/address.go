package words

import (
	"bytes"
	"regexp"
	"sync"
)

var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(?:https?|ftp|file)://|mailto:)[^\s<>"` + "`" + `{}|\\^\x00-\x1f]+`)
})

// Addresses gives where in a text the parts are that read as addresses, without what
// ends a sentence and closing brackets that the address does not open.
func Addresses(text []byte) [][]int {
	found := address().FindAllIndex(text, -1)
	for _, m := range found {
		for ; m[1] > m[0]; m[1]-- {
			s := text[m[0]:m[1]]
			last := s[len(s)-1]
			if bytes.IndexByte([]byte(".,;:!?'*"), last) < 0 &&
				(last != ')' || bytes.Count(s, []byte("(")) >= bytes.Count(s, []byte(")"))) &&
				(last != ']' || bytes.Count(s, []byte("[")) >= bytes.Count(s, []byte("]"))) {
				break
			}
		}
	}
	return found
}
