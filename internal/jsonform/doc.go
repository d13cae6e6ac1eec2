// Package jsonform gives what commands print with --json its one form, whatever the form
// was in which the host, or a part of the program, has it:
//
//   - members are camelCase, without a prefix such as "tandemux/";
//   - times are RFC 3339 in UTC with milliseconds, and their names end with At, but for
//     at and timestamp;
//   - durations are whole numbers whose names end with Ms;
//   - directories are plain paths, no URIs;
//   - lists are there when they are empty.
//
// What a type has decides: its JSON Schema, which the library infers, or for messages of
// the protocol ahp/schema's, is walked together with the value. What others have said as
// JSON (json.RawMessage), and the keys of maps, stay as they are. Schema is the schema of
// the result.
//
// What was found out about a type is kept, under a lock; everything may be called from
// any goroutine.
package jsonform
