//go:build linux

package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/host/keeper"
)

func init() { roles["program"], roles["host"], roles["keeper"] = program, hostProcess, keeperProcess }

const (
	socketEnv = "TANDEMUX_JOURNAL_TEST_SOCKET" // the keeper's, if there is one
	textEnv   = "TANDEMUX_JOURNAL_TEST_TEXT"   // the program writes text only
	markedEnv = "TANDEMUX_JOURNAL_TEST_MARKED" // the host may not count reads
)

// stream is what the program writes: byte i is a function of i, so that any
// byte that is missing or there twice shifts all that follow. Every value comes
// up, the filler and the packet's bytes too, often in runs.
func stream(dst []byte, from uint64, text bool) {
	for i := range dst {
		at := from + uint64(i)
		x := at / 3 * 0x9E3779B97F4A7C15
		x ^= x >> 29
		x *= 0xBF58476D1CE4E5B9
		switch b := byte(x >> 40); {
		case text:
			dst[i] = ' ' + b%95
		case b < 24:
			dst[i] = filler
		case b < 32:
			dst[i] = unset
		case b < 40:
			dst[i] = 0
		default:
			dst[i] = byte(x >> 48)
		}
	}
}

// program writes the stream until standard input ends, and then says on
// standard error how much it was.
func program() {
	text := os.Getenv(textEnv) != ""
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	rnd := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 6000)
	written := uint64(0)
	for {
		select {
		case <-stop:
			fmt.Fprintln(os.Stderr, written)
			return
		default:
		}
		size := 1 + rnd.IntN(len(buf))
		if rnd.IntN(3) == 0 {
			size = 1 + rnd.IntN(4)
		}
		stream(buf[:size], written, text)
		n, err := os.Stdout.Write(buf[:size])
		written += uint64(n)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if rnd.IntN(4) == 0 { // now and then the host reads it empty
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Microsecond)
		}
	}
}

// state is what the killed host restores: how much of the stream it has
// logged, and how much it has processed.
func state(r Recovered) (logged, taken uint64, err error) {
	for _, rec := range append(r.State[:len(r.State):len(r.State)], r.Records...) {
		switch rec.Type {
		case "state":
			logged = binary.LittleEndian.Uint64(rec.Data)
			taken = logged
		case "data":
			if uint64(rec.Seq) != logged {
				return 0, 0, fmt.Errorf("a record for offset %d comes at %d", rec.Seq, logged)
			}
			logged += uint64(len(rec.Data))
		case "taken":
			taken = binary.LittleEndian.Uint64(rec.Data)
		}
	}
	if logged != taken {
		return 0, 0, fmt.Errorf("%d bytes are logged, %d taken", logged, taken)
	}
	return logged, taken, nil
}

// hostProcess takes over the journal and the pty, at descriptors 3 and 4 or
// from a keeper, and reads until it is killed or the output ends.
func hostProcess() {
	file, pty := os.NewFile(3, "journal"), 4
	var err error
	if os.Getenv(socketEnv) != "" {
		file, pty, err = adopt()
	}
	if err == nil {
		err = serve(file, pty)
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("ended")
}

const terminalURI = "ahp-terminal:/a"

func adopt() (*os.File, int, error) {
	ctx := context.Background()
	k, err := keeper.Dial(ctx, os.Getenv(socketEnv))
	if err != nil {
		return nil, 0, err
	}
	f, err := k.Fetch(ctx, terminalURI)
	if err != nil {
		return nil, 0, err
	}
	p, err := k.Adopt(ctx, terminalURI)
	if err != nil {
		return nil, 0, err
	}
	raw, err := p.Pty.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	fd := 0
	cerr := raw.Control(func(pty uintptr) { fd, err = unix.FcntlInt(pty, unix.F_DUPFD_CLOEXEC, 10) })
	return f, fd, errors.Join(cerr, err)
}

// keeperProcess is a keeper.
func keeperProcess() {
	ln, err := keeper.Listen(os.Getenv(socketEnv))
	if err == nil {
		err = keeper.Serve(context.Background(), ln, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		os.Exit(1)
	}
}

func serve(file *os.File, pty int) error {
	mem, err := Map(file, 0)
	if err != nil {
		return err
	}
	l, landing, r, err := Open(mem)
	if err != nil {
		return err
	}
	if r.Damage != nil {
		return r.Damage
	}
	pos, _, err := state(r)
	if err != nil {
		return err
	}
	if os.Getenv(markedEnv) == "" {
		if exact, err := landing.Prepare(pty); err != nil || !exact {
			return fmt.Errorf("reads are not counted: %w", err)
		}
	}
	pending, missing := joined(landing.Resume(pos))
	if missing > 0 {
		return fmt.Errorf("%d bytes are missing", missing)
	}
	fmt.Println("ready")
	rnd := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	for {
		if landing.Begin() {
			for !landing.Full() {
				n, err := landing.Read(pty)
				if err == unix.EAGAIN {
					break
				}
				if err == unix.EIO {
					if len(pending) == 0 && len(landing.Chunk()) == Headroom {
						return nil
					}
					break
				}
				if err != nil {
					return err
				}
				if n == 0 {
					break
				}
				if rnd.IntN(3) == 0 {
					break
				}
			}
			pending = append(pending, landing.Chunk()[Headroom:]...)
		}
		if len(pending) == 0 {
			unix.Poll([]unix.PollFd{{Fd: int32(pty), Events: unix.POLLIN}}, 1)
			continue
		}
		if rnd.IntN(3) > 0 && len(pending) < 1<<20 {
			continue // more gathers
		}
		if l.Due() {
			if err := checkpoint(l, pos); err != nil {
				return err
			}
		}
		take := pending[:min(len(pending), 60<<10)]
		end := pos + uint64(len(take))
		err := l.Append(Record{Type: "data", Seq: int64(pos), Data: take},
			Record{Type: "taken", Data: binary.LittleEndian.AppendUint64(nil, end)})
		if err != nil {
			return err
		}
		pos = end
		pending = append(pending[:0], pending[len(take):]...)
		landing.Release(pos)
	}
}

func checkpoint(l *Log, pos uint64) error {
	c, err := l.Begin(true)
	if err != nil {
		return err
	}
	if err := c.Add(Record{Type: "state", Data: binary.LittleEndian.AppendUint64(nil, pos)}); err != nil {
		return err
	}
	return c.Commit()
}

// env is this process's environment with more.
func env(more ...string) []string { return append(os.Environ(), more...) }
