insert into agents (id, name, description, created, updated) values ('agt_0', 'old-agent', '', 1700000000000, 1700000000000);
insert into snapshots (id, agent, sealed, created) values ('snap_0', 'agt_0', x'00', 1700000000000);
insert into environments (agent, name, sticky, policy, updated) values ('agt_0', 'production', 1, '', 1700000000000);
insert into branches (id, agent, name, environment, active, status, reason, created, updated) values ('br_0', 'agt_0', 'main', 'production', null, 'READY', '', 1700000000000, 1700000000000);
insert into versions (id, agent, branch, environment, number, hash, code, definition, snapshot, status, reason, author, source, created) values ('ver_0', 'agt_0', 'br_0', 'production', 1, 'h', '', '{}', 'snap_0', 'READY', '', 'operator', null, 1700000000000);
update branches set active = 'ver_0';
insert into tasks (id, name, agent, version, launched, branch, project, filesystem, workspace, writable, private, status, reason, params, session, progress, progress_line, creator, facts, created, updated) values ('tsk_0', 'old-task', 'agt_0', 'ver_0', null, 'br_0', null, null, '', 1, 0, 'IDLE', '', '{"a":1}', '', null, '', 'operator', '', 1700000000000, 1700000000000);
insert into stream (task, seq, type, data) values ('tsk_0', 1, 'start', '{}'), ('tsk_0', 2, 'finish', '{}');
insert into keys (id, name, hash, scopes, task, author, created, used, expires, revoked) values ('key_0', 'old-key', x'00', '[{"resource_type":"agent","resource_id":"*","role":"viewer"}]', null, 'operator', 1700000000000, 0, 0, 0);
