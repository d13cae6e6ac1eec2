package journal

// Format is the version of what is in the memory. A host can take over from one
// that wrote the same or an earlier one.
const Format = format
