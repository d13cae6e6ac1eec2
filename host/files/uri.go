package files

import "tandemux/internal/fileuri"

// Path and URI are fileuri's.
var (
	Path = fileuri.Local
	URI  = fileuri.Of
)
