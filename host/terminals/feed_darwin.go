package terminals

import "os"

// hold does nothing: there is no such descriptor.
func hold(name string) (*os.File, string, error) { return nil, name, nil }
