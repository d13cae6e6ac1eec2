package api

import "time"

func init() { heartbeat = time.Second }
