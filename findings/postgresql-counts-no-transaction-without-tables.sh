#!/usr/bin/env bash
# PostgreSQL 15 and later: pg_stat_database does not count the transactions of a session that uses no table, until the
# session ends.
#
# Program: Debian's postgresql (15.18), also seen on 17.11 and 18.6. Nothing else is installed.
# A good engineer would guess: xact_commit rises with every commit, at most a second late (the manual says that each
# process flushes its statistics at most once per second). Monitoring takes transactions per second from it.
# Behaviour: a session that only runs `SELECT 1` is counted once, for what it read of the catalogue at its start, and then
# not at all while it lives. When it ends, everything is counted at once.
#
# Output seen (15.18): "pgbench ran 38115 transactions in 5 s: counted after 2.5 s: 7375; 1.5 s later: 0 more; after its
# end: 38117"
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
echo 'SELECT 1;' >"$folder/one.sql"
"$bin/pgbench" -n -f "$folder/one.sql" -c 1 -T 5 counted >"$folder/pgbench" 2>&1 &
client=$!
before=$(count)
sleep 2.5
middle=$(count)
sleep 1.5
later=$(count)
wait "$client"
sleep 1
after=$(count)
ran=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$folder/pgbench")
echo "pgbench ran $ran transactions in 5 s: counted after 2.5 s: $((middle - before)); 1.5 s later: $((later - middle)) more;" \
  "after its end: $((after - before))"
[ $((later - middle)) -lt $((ran / 100)) ] && [ $((after - before)) -ge "$ran" ]
