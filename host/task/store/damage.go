package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// wholeCheck is the size in bytes up to which a database is checked as a whole whenever it is opened.
// Larger ones are checked only after damage was found.
const wholeCheck = 8 << 20

// condemn notes for the next Open that the database is damaged.
func (s *Store) condemn(err error) {
	if s.marked.Swap(true) {
		return
	}
	s.log.Error("the database of tasks is damaged", "path", s.path, "err", err)
	if err := os.WriteFile(s.path+".check", nil, 0o600); err != nil {
		s.log.Error("note that the database of tasks is damaged", "err", err)
	}
}

// inspect returns why a database can't be used, or "".
func (s *Store) inspect(ctx context.Context) (string, error) {
	mark := s.path + ".check"
	_, marked := os.Stat(mark)
	info, err := os.Stat(s.path)
	if err != nil {
		return "", fmt.Errorf("look at the tasks' database: %w", err)
	}
	check := "select 1 from sqlite_schema limit 1"
	switch {
	case marked == nil:
		check = "pragma integrity_check(1)"
	case info.Size() <= wholeCheck:
		check = "pragma quick_check(1)"
	}
	rows, err := s.w.QueryContext(ctx, check)
	if err != nil {
		return s.verdict(err)
	}
	defer rows.Close()
	for rows.Next() {
		var said string
		if err := rows.Scan(&said); err != nil {
			return s.verdict(err)
		}
		if said != "ok" && said != "1" {
			return said, nil
		}
	}
	if err := rows.Err(); err != nil {
		return s.verdict(err)
	}
	if marked == nil {
		return "", os.Remove(mark)
	}
	return "", nil
}

// verdict returns err as the reason if it says that the database is damaged, else as an error.
func (s *Store) verdict(err error) (string, error) {
	explained := s.explain(err)
	if errors.Is(explained, Damaged) {
		return err.Error(), nil
	}
	return "", fmt.Errorf("open the tasks' database: %w", explained)
}

// setAside renames the database and its companion files, and sets the notice about that.
func (s *Store) setAside(reason string) error {
	base := s.path + ".damaged-" + s.now().UTC().Format("20060102T150405Z")
	to := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			break
		}
		to = fmt.Sprintf("%s-%d", base, i)
	}
	for _, companion := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(s.path+companion, to+companion); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("move the damaged database of tasks aside: %w", err)
		}
	}
	if err := os.Remove(s.path + ".check"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("move the damaged database of tasks aside: %w", err)
	}
	s.marked.Store(false)
	s.notice = fmt.Sprintf("The database of tasks was damaged (%.200s) and is now %s; tandemux began an empty one. "+
		"Workspaces and what terminals run are untouched; `sqlite3 FILE .recover` may get records back.", reason, to)
	s.log.Error("the damaged database of tasks was moved aside", "to", to, "reason", reason, "at", s.now().Format(time.RFC3339))
	return nil
}
