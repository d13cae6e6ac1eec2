// Package hosted names what other hosts have. A resource of the host HOST,
// "scheme:/path" there, is "scheme://HOST/path" here, and a client that works with
// several hosts has its id at each. Names does both to whole messages, so that everything
// behind a connection, from lists of terminals to sessions, questions and results of a
// search, says which host it is of, and what is sent there is said in that host's words.
//
// Values in, values out; no state, no goroutines. Going out undoes coming in. What is not
// JSON passes as it is. What programs print, people type and environments hold is never
// touched: strings are told apart by the names of their members.
package hosted
