package sandbox

// plan is what the outer process does, as the host said it.
type plan struct {
	Name   string   `json:"name"`
	Bwrap  string   `json:"bwrap"`
	Args   []string `json:"args"` // without the environment, descriptors and the command
	Data   []data   `json:"data"`
	Limits Limits   `json:"limits"`
	// Detach gives up the controlling terminal.
	Detach bool `json:"detach"`
}

const (
	// planEnv is the variable that holds the plan. It is in the environment, as that
	// alone is nobody else's to read.
	planEnv = "TANDEMUX_SANDBOX_PLAN"
	// envMark begins the names of the command's variables until it is inside.
	envMark = "TANDEMUX_INSIDE_"
	// outsideArg and insideArg are the program's first argument in the two places.
	outsideArg = "sandbox-outside"
	insideArg  = "sandbox-inside"
)

// failed is the exit code of a sandbox that could not be made, and missing and
// refused are a shell's for a command that is not there or is no program.
const (
	failed  = 125
	refused = 126
	missing = 127
)
