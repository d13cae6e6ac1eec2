
create index tasks_live on tasks (n) where status not in ('CANCELLED', 'FAILED', 'DELETING');
create index branches_environment on branches (agent, environment, n);
