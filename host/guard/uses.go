package guard

import (
	"regexp"
	"sync"
)

// harmlessUses are the arguments with which a blocked program does no harm; what is not
// known of them is "$".
var harmlessUses = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		// Modes by which others can't write and nobody gets another's rights, one by one.
		"chmod": regexp.MustCompile(`^(-[cfv]+ )*(` + clause + `(,` + clause + `)*|[01]?[0-7]{2}[0145])( [^-]\S*)+$`),
		"dd":    regexp.MustCompile(`^((if|bs|ibs|count|skip|iflag|status)=\S*( |$))*$`), // it prints
		"fdisk": regexp.MustCompile(`^(-l|-x|--list)( |$)`),
		// Names of signals, a test, and jobs of the same shell.
		"kill": regexp.MustCompile(`^(-[lL0]( |$)|--list|(-s \S+ |-\w+ )?(%\S*( |$))+$)`),
	}
})

const clause = `([ugoa]*(-[rwxXst]+|[+=][rxX]+)|[ug]*[+=][rwxX]+)`

// dangerous reports whether a blocked program is used as its block means it.
func (p Policy) dangerous(program string, args []word) bool {
	if !p.Uses {
		return true
	}
	text, harmless := joined(args), harmlessUses()[program]
	return text != "--help" && text != "--version" && (harmless == nil || !harmless.MatchString(text))
}
