package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
)

// checkHosts asks the hosts that have names.
func checkHosts(cmd *cobra.Command, d local.Dirs) (string, string) {
	list, err := hosts.Read(d.Config)
	if err != nil {
		return Bad, err.Error()
	}
	if len(list) == 0 {
		return OK, "none has a name"
	}
	why, missed := endpoint.Check(cmd, list, func(_ context.Context, _ *endpoint.Conn, _ time.Duration, err error) (string, error) {
		if err != nil {
			return cli.OneSentence(err), err
		}
		return "", nil
	})
	if missed == nil {
		return OK, cli.Count(len(list), "host") + " reached"
	}
	var said []string
	for i, h := range list {
		if why[i] != "" {
			said = append(said, fmt.Sprintf("%s is not reached: %s", h.Name, why[i]))
		}
	}
	return Warn, strings.Join(said, "; ")
}
