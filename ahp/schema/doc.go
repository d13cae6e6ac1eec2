// Package schema describes the protocol as JSON Schemas (draft 2020-12), generated from
// the types of package ahp: Document is everything that a host of this program reads and
// writes in one of the protocol's generations, its own extensions included.
//
// The document itself describes a message. Its $defs have the types by their names in
// Go, and tables, whose properties are schemas by what they describe: Params by the
// method of a request or notification, Results by that of a request, Actions by the
// type, States by the kind of channel.
//
// Members, and which of them must be there, come from the types' tags. What tags can't
// say is in tables here: which members belong to which kind of a type (members.go), what
// a member holds that is kept as it came, and how 0.5 differs (members.go). The library's
// own inference does not serve, as it knows neither references nor kinds, and
// lets everything be null, where the protocol leaves out.
//
// Members and kinds that are not known are allowed, as in the protocol; Closed refuses
// them, for tests of what a host writes.
//
// It does not validate: whoever imports it resolves a schema with the library. Nothing
// here changes once it is made, and everything may be called from any goroutine.
package schema
