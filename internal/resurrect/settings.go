package resurrect

import "tandemux/internal/config/option"

// Settings say what comes back after a restart of the machine.
type Settings struct {
	// RestoreCommands are the programs that are run again.
	RestoreCommands []string
	// HistoryOnDisk keeps what terminals show on disk, of all together at most
	// HistoryOnDiskLimit MiB.
	HistoryOnDisk      bool
	HistoryOnDiskLimit int
}

// History is the part about what terminals show.
func (s *Settings) History() HistoryOptions {
	return HistoryOptions{On: s.HistoryOnDisk, Limit: int64(s.HistoryOnDiskLimit) << 20}
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{
		{
			Name: "restore-commands", Value: &s.RestoreCommands,
			Doc: "Programs that run again after a restart of the machine, such as [\"vim\", \"htop\"]; others leave a shell.",
		},
		{
			Name: "history-on-disk", Value: &s.HistoryOnDisk,
			Doc: "What your terminals show, printed passwords too, is kept on disk, for you alone, and is back after a restart of the machine; false removes it.",
		},
		{
			Name: "history-on-disk-limit", Value: option.Default(&s.HistoryOnDiskLimit, 64), Min: 1, Max: 4096,
			Doc: "How many MiB of it are kept.",
		},
	}
}
