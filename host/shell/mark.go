package shell

// Kind is what a mark says.
type Kind uint8

const (
	// Ignored marks are to be taken out of the stream and mean nothing more.
	Ignored Kind = iota
	// Prompt: a prompt begins here.
	Prompt
	// Input: the prompt ends here, what is typed begins.
	Input
	// Secondary: a secondary prompt begins here.
	Secondary
	SecondaryEnd
	// Line is the command line that is about to be executed: Text.
	Line
	// Execute: the command line is executed, its output begins here. HasText is
	// set when the mark brings the command line itself.
	Execute
	// Done: execution has ended, with Exit if HasExit.
	Done
	// Directory is the shell's working directory: Text is its path, Host the
	// host it is on, "" when that is not said.
	Directory
	// Remote says on which Host the shell runs.
	Remote
)

type Mark struct {
	Kind Kind
	// Trusted is set when the mark has our nonce; see the package's
	// documentation.
	Trusted bool
	// Text is the command line of Line and Execute, valid UTF-8 of at most
	// MaxText bytes, without control characters but newline and tab unless
	// Trusted; or the path of Directory, absolute, at most MaxDir bytes of any
	// value but controls.
	Text    string
	HasText bool
	// Host is as it was said, so possibly without its domain; of Directory and
	// Remote only.
	Host string
	// Exit is the exit status of Done, meaningful only if HasExit.
	Exit    int
	HasExit bool
	// ID tells executions apart, of trusted Execute marks, and prompts, of trusted
	// Prompt marks: what has the same is the same once more. 0 is none.
	ID uint64
	// Ends is set when a Prompt is sure to be followed by its Input; only trusted
	// ones can be.
	Ends bool
}

const (
	// MaxBody bounds the body of an OSC in bytes; a longer one is Ignored.
	MaxBody = 64 << 10
	// MaxText bounds a command line in bytes; a longer one is not taken: the
	// mark is without text.
	MaxText = 32 << 10
	// MaxDir bounds a directory's path in bytes; a longer one is Ignored.
	MaxDir = 4096
	// maxHost bounds a host's name.
	maxHost = 255
)
