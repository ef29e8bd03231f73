#!/usr/bin/env bash
# PostgreSQL: each parallel worker of a query counts as two committed transactions in pg_stat_database.
#
# Program: Debian's postgresql (15.18), also seen on 17.11 and 18.6. Nothing else is installed.
# A good engineer would guess: 20 queries outside a transaction are 20 commits, with or without parallel workers. The
# server even takes care not to count the part of the query that a worker runs.
# Behaviour: a worker commits twice while it starts (when it connects to the database, and when it restores the leader's
# settings), and both are counted: 20 queries with two workers each are 100 commits. Only version 18 and later count the
# workers (parallel_workers_launched), so that they can be subtracted.
#
# Output seen (15.18): "20 queries: 21 commits; with 2 parallel workers each: 101 commits"
#
# Exit code: 0 while the server behaves so, 1 if not, 2 if it could not be tried.
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -x "$bin/postgres" ] || { echo "apt-get install postgresql"; exit 2; }
folder=$(mktemp -d /tmp/finding.XXXX)
chmod 755 "$folder"
asdb() { if [ "$(id -u)" = 0 ]; then unshare --user --map-user=65534 --map-group=65534 "$@"; else "$@"; fi; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
trap 'asdb "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
asdb "$bin/initdb" -D "$folder/data" -U postgres -A trust --no-locale --no-sync >/dev/null
asdb "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" \
  -o "-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories=$folder -c fsync=off" start >/dev/null
export PGHOST=127.0.0.1 PGPORT=$port PGUSER=postgres
"$bin/psql" -Xqc 'CREATE DATABASE counted'
count() { "$bin/psql" -XAtqc "SELECT xact_commit FROM pg_stat_database WHERE datname = 'counted'"; }
"$bin/psql" -Xqd counted -c 'CREATE TABLE t AS SELECT g FROM generate_series(1, 100000) g; ANALYZE t'
for _ in $(seq 20); do echo 'SELECT count(*) FROM t;'; done >"$folder/queries.sql"
# The commits of a session with these queries, when it has ended.
commits() {
  sleep 1.5
  local before after
  before=$(count)
  PGOPTIONS="-c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0 $1" \
    "$bin/psql" -XAtqd counted -f "$folder/queries.sql" >/dev/null
  sleep 1.5
  after=$(count)
  echo $((after - before))
}
alone=$(commits '-c max_parallel_workers_per_gather=0')
workers=$(commits '-c max_parallel_workers_per_gather=2')
echo "20 queries: $alone commits; with 2 parallel workers each: $workers commits"
[ "$((workers - alone))" = 80 ]
