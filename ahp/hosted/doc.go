// Package hosted rewrites the addresses of other hosts' resources. A resource of the host HOST,
// "scheme:/path" there, is "scheme://HOST/path" here, and a client that works with several hosts has
// an id at each. Names rewrites both in whole messages, so all code behind a connection sees addresses
// that say which host they belong to, and each host sees its own.
//
// All functions are pure. Names.Out undoes Names.In. What is not JSON passes unchanged. Output of
// programs, what people type and environments are never changed: the names of members say which
// strings are addresses.
package hosted
