package api

import (
	"time"

	hostapi "tandemux/host/task/api"
)

func init() { hostapi.Heartbeat = time.Second }
