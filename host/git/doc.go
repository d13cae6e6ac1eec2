// Package git runs git's own binary, without a shell, for what works on repositories that
// others may have written.
//
// What runs programs by configuration is turned off, whatever a file says: hooks, pagers,
// editors, prompts, fsmonitors, external diffs, signatures. Filters and line ends are
// honoured, as by any checkout of the user's; who does not trust a repository's
// configuration gives git another one (package changes). The environment is this
// process's without what git reads.
//
// A child ends with this process, and when its context does, but for what is to be Whole. Values of Git are immutable,
// and may be used from any goroutine.
package git
