package store

import (
	"context"

	"tandemux/host/task/budget"
)

// budgetRow is a task's budget.
type budgetRow struct {
	Task    string         `db:"task"`
	Limits  budget.Limits  `db:"limits"`
	Account budget.Account `db:"account"`
}

// Budgets gives those of all tasks.
func (s *Store) Budgets(ctx context.Context) (map[string]budget.Record, error) {
	rows, err := all[budgetRow](ctx, s.reading(), "select task, limits, account from budgets")
	records := make(map[string]budget.Record, len(rows))
	for _, r := range rows {
		records[r.Task] = budget.Record{Limits: r.Limits, Account: r.Account}
	}
	return records, err
}

// KeepBudget keeps one. Of a task that is no more nothing is kept.
func (s *Store) KeepBudget(ctx context.Context, task string, r budget.Record) error {
	row := budgetRow{task, r.Limits, r.Account}
	return s.write(ctx, relaxed, func(tx conn) error {
		return tx.exec(ctx, `insert into budgets (task, limits, account) select ?1, ?2, ?3 where exists (select 1 from tasks where id = ?1)
			on conflict (task) do update set limits = excluded.limits, account = excluded.account`, cells(&row)...)
	})
}
