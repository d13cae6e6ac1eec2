package jsonrpc

// Parsed shows what parse makes of a text, for tests.
func Parsed(text []byte, maxDepth int) (id []byte, method string, params []byte, code int) {
	m, err := parse(text, maxDepth)
	if err != nil {
		code = err.Code
	}
	return m.ID, m.Method, m.Params, code
}

// Depth is depth.
func Depth(text []byte) int { return depth(text) }
