package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tandemux/host/journal/record"
	"tandemux/internal/statefile"
)

// sequence is the host's one counter. It never hands out a number twice, also
// not across restarts (AHP, Lifecycle): it starts above the clock, and above a mark
// in the state directory that lies ahead of every number handed out.
type sequence struct {
	last int64 // handed out
	mark int64 // written down
	path string
}

const (
	// seqPerMilli numbers fit into a millisecond of the clock; 2^53, the
	// highest number that JavaScript can count to, is reached in 2248.
	seqPerMilli = 1 << 10
	// seqBlock is how far ahead of the last number the mark is put.
	seqBlock = 1 << 24
	maxSeq   = record.MaxSeq
)

func newSequence(dir string, now time.Time) (sequence, error) {
	s := sequence{path: filepath.Join(dir, "seq")}
	text, err := os.ReadFile(s.path)
	if err != nil && !os.IsNotExist(err) {
		return s, fmt.Errorf("read the sequence mark: %w", err)
	}
	// A damaged mark is not worth refusing to start: the clock is ahead of it
	// unless it was set back.
	mark, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if mark > record.Highest {
		return s, fmt.Errorf("the sequence mark in %s is out of range: remove the file", s.path)
	}
	s.last = max(now.UnixMilli()*seqPerMilli, mark, 0)
	return s, nil
}

// advance writes a new mark.
func (s *sequence) advance() error {
	mark := s.last + seqBlock
	if err := statefile.Write(s.path, []byte(strconv.FormatInt(mark, 10)+"\n")); err != nil {
		return fmt.Errorf("write the sequence mark: %w", err)
	}
	s.mark = mark
	return nil
}

// Seq is the last number that was handed out.
func (tx Tx) Seq() int64 { return tx.c.seq.last }

// NextSeq takes the next number.
func (tx Tx) NextSeq() int64 {
	s := &tx.c.seq
	s.last++
	if s.last >= s.mark {
		// Once in 16 million actions; failing it costs the guarantee only if
		// the clock is set back as well.
		if err := s.advance(); err != nil {
			tx.c.o.Log.Error("advance the sequence", "err", err)
			s.mark += seqBlock
		}
	}
	tx.c.reached.Store(s.last)
	return s.last
}

// Reached is the last number that was handed out, without the lock.
func (c *Core) Reached() int64 { return c.reached.Load() }

// Saw has all numbers from here on lie above one that an earlier host gave out.
func (tx Tx) Saw(seq int64) { tx.c.seq.last = max(tx.c.seq.last, seq) }
