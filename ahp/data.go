package ahp

// AppendDataEnvelope appends the whole JSON-RPC notification that carries
// terminal output: {"jsonrpc":"2.0","method":"action","params":{…}} with an
// action of type terminal/data and no origin. Invalid UTF-8 becomes U+FFFD.
// This is the hot path of a host; it allocates only to grow buf.
func AppendDataEnvelope(buf []byte, channel URI, data string, seq int64) []byte {
	panic("not yet")
}

// ParseDataEnvelope recognises exactly what AppendDataEnvelope writes, without
// reflection: the hot path of a viewer. ok is false for anything else, also for
// other spellings of the same message, which the general decoder then reads.
// channel aliases msg; data does not.
func ParseDataEnvelope(msg []byte) (channel []byte, data string, seq int64, ok bool) {
	panic("not yet")
}
