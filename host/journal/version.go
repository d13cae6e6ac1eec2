package journal

// Format is the version of the memory's layout. A host can take over from one
// that wrote the same.
const Format = format
