package auth

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTokens    = 1000
	maxTokenName = 64   // bytes
	maxClientID  = 256  // bytes
	maxShown     = 1024 // bytes of what is not known, in an error
)

// The scopes of tokens.
const (
	ScopeRead    = "terminal:read"   // subscribe, read
	ScopeCreate  = "terminal:create" // createTerminal
	ScopeInput   = "terminal:input"  // type, resize, rename, clear what one holds
	ScopeClaim   = "terminal:claim"  // transfer and dispose what one holds
	ScopeSession = "session"         // claim for sessions; begin them, prompt, answer
	ScopeApprove = "approve"         // let agents' tool calls run
	ScopeAdmin   = "admin"           // everything the operator may, but for the next
	ScopeWrite   = "files:write"     // change files by requests; only who was given it has it
)

var (
	AllScopes = []string{ScopeRead, ScopeCreate, ScopeInput, ScopeClaim, ScopeSession, ScopeApprove, ScopeAdmin, ScopeWrite}
	// boundScopes are those that make sense for one terminal.
	boundScopes = []string{ScopeRead, ScopeInput, ScopeClaim}
)

// checkScopes gives the scopes of a new token: all that fit when none are
// named, but ScopeWrite.
func checkScopes(names []string, bound bool) ([]string, error) {
	known := AllScopes
	if bound {
		known = boundScopes
	}
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == ScopeWrite }), nil
	}
	var scopes []string
	for _, s := range names {
		switch {
		case !slices.Contains(AllScopes, s):
			return nil, fmt.Errorf("no scope is named %q: use %s", shown(s), strings.Join(AllScopes, ", "))
		case !slices.Contains(known, s):
			return nil, fmt.Errorf("the scope %q is not for a token bound to one terminal: use %s", s, strings.Join(boundScopes, ", "))
		case !slices.Contains(scopes, s):
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// isTokenName reports whether a text can be a token's name: 1 to maxTokenName bytes of
// printable characters.
func isTokenName(s string) bool {
	return s != "" && len(s) <= maxTokenName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func shown(s string) string { return s[:min(len(s), maxShown)] }
