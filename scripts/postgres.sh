#!/bin/sh
# A PostgreSQL server for trying tasks-database, in a directory of its own, on its socket alone,
# until this ends: scripts/postgres.sh [DIRECTORY]. Not as root, which PostgreSQL refuses; root
# runs it as the user postgres.
set -e
dir=${1:-$(mktemp -d)}
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
PATH=${bin:+$bin:}$PATH
command -v initdb >/dev/null || { echo "postgres.sh: there is no PostgreSQL: apt install postgresql" >&2; exit 1; }
mkdir -p "$dir"
if [ "$(id -u)" = 0 ]; then
	chown postgres "$dir"
	exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$dir"
fi
[ -e "$dir/data" ] || initdb -D "$dir/data" -U tandemux --auth=trust -E UTF8 --locale=C >/dev/null
echo "tasks-database = \"postgres://tandemux@/postgres?host=$dir\""
exec postgres -D "$dir/data" -k "$dir" -c listen_addresses=
