package requests

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/internal/pace"
)

const (
	// maxProfileTime bounds the length of a CPU profile.
	maxProfileTime = 60 * time.Second
	// maxProfile bounds a profile in bytes, so that it fits into one answer.
	maxProfile = 4 << 20
)

// profiling is set while a CPU profile runs, of which a process can have only one.
var profiling atomic.Bool

// profilers has the kinds of x-tandemux/profile.
var profilers = map[string]func(ctx context.Context, d time.Duration) ([]byte, error){
	ahp.ProfileCPU: profileCPU,
	ahp.ProfileHeap: func(context.Context, time.Duration) ([]byte, error) {
		var b bytes.Buffer
		runtime.GC() // so that the profile shows what is in use
		err := pprof.WriteHeapProfile(&b)
		return b.Bytes(), err
	},
}

// profile handles x-tandemux/profile: it returns a profile of the host's process in pprof's format,
// which names functions and contains nothing that terminals show. It blocks only the asking
// connection, and ends with it.
func (s *Server) profile(ctx context.Context, c *Conn, p ahp.ProfileParams) (any, error) {
	if !c.Principal.Human {
		return nil, ahp.PermissionDenied("profile: only the host's owner may, over the unix socket")
	}
	take, ok := profilers[p.Kind]
	if !ok {
		return nil, ahp.InvalidParams("kind: %q is not %q or %q", p.Kind, ahp.ProfileCPU, ahp.ProfileHeap)
	}
	d := time.Duration(p.Seconds) * time.Second
	if d < 0 || d > maxProfileTime {
		return nil, ahp.InvalidParams("seconds: %d is not between 0 and %d", p.Seconds, int(maxProfileTime.Seconds()))
	}
	b, err := take(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("take a %s profile: %w", p.Kind, err)
	}
	if len(b) > maxProfile {
		return nil, fmt.Errorf("take a %s profile: it has %d bytes, and an answer %d at most", p.Kind, len(b), maxProfile)
	}
	s.Audit.Did(c.Who(), "profile", "", "kind", p.Kind)
	return ahp.ProfileResult{Profile: b}, nil
}

func profileCPU(ctx context.Context, d time.Duration) ([]byte, error) {
	if profiling.Swap(true) {
		return nil, ahp.InvalidRequest("profile: one is being taken already; try again later")
	}
	defer profiling.Store(false)
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		return nil, err
	}
	pace.Sleep(ctx, d)
	pprof.StopCPUProfile()
	return b.Bytes(), ctx.Err()
}
