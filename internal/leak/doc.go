// Package leak fails a test binary that leaves goroutines behind.
//
//	func TestMain(m *testing.M) { leak.Main(m) }
//
// It compares the goroutines before and after the tests and waits a while for
// the last ones to end. It knows nothing of single tests, so those that share a
// fixture must close it themselves.
package leak
