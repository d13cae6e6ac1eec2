
create table budgets (
	task text primary key references tasks(id) on delete cascade, limits text not null, account text not null
) strict, without rowid;
