#!/usr/bin/env bash
# MariaDB's performance_schema has no instrument for the redo log's file: its writes and syncs cannot be timed there.
#
# Version: MariaDB 10.11.19 of Debian 12 (apt-get install mariadb-server-core mariadb-client-core).
# Guess: with performance_schema=ON and the instruments wait/io/file/% enabled from the start, the event
#   wait/io/file/innodb/innodb_log_file counts and times the writes and syncs of the redo log, as it does in MySQL 8.0.
# Behaviour: 300 commits with innodb_flush_log_at_trx_commit=1 and sync_binlog=1 write both logs, as the status variable
#   Innodb_os_log_written shows. The binary log has its event with 300 writes; of InnoDB there are only data and temporary
#   files, and no instrument of that name.
# Output seen on 2026-12-01:
#   redo log: more than 10000 bytes written
#   binlog: 300 writes
#   instruments of InnoDB's files: innodb_data_file innodb_temp_file
#
# Exits with 1 if the behaviour has changed, with 77 if the packages are not installed.
set -u
command -v mariadbd >/dev/null || { echo "mariadbd is not installed"; exit 77; }
folder=$(mktemp -d)
server=
end() { [ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null; rm -rf "$folder"; }
trap end EXIT
root=$([ "$(id -u)" = 0 ] && echo --user=root)
mariadb-install-db --no-defaults $root --datadir="$folder/my" --auth-root-authentication-method=normal --skip-test-db \
    --skip-name-resolve >"$folder/log" 2>&1
mariadbd --no-defaults $root --datadir="$folder/my" --socket="$folder/s" --skip-networking --pid-file="$folder/pid" \
    --innodb-buffer-pool-size=32M --innodb-flush-log-at-trx-commit=1 --log-bin="$folder/my/binlog" --sync-binlog=1 \
    --performance-schema=ON --performance-schema-instrument='wait/io/file/%=ON' \
    --log-error="$folder/log" 2>>"$folder/log" &
server=$!
my() { mariadb --no-defaults -S "$folder/s" -uroot -N "$@" 2>&1; }
for _ in $(seq 120); do my -e "SELECT 1" >/dev/null && break; sleep 0.25; done
my -e "CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB; INSERT INTO d.t VALUES (1, 0)"
writes() {
    my -e "SELECT count_write FROM performance_schema.file_summary_by_event_name WHERE event_name = 'wait/io/file/sql/binlog'"
}
bytes() { my -e "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'" | cut -f2; }
writes_before=$(writes) bytes_before=$(bytes)
for _ in $(seq 300); do echo "UPDATE t SET b = b + 1 WHERE a = 1;"; done | my d
found=$(
    echo "redo log: $([ $(($(bytes) - bytes_before)) -gt 10000 ] && echo more || echo less) than 10000 bytes written"
    echo "binlog: $(($(writes) - writes_before)) writes"
    echo "instruments of InnoDB's files:" $(my -e "SELECT SUBSTRING_INDEX(name, '/', -1) FROM
        performance_schema.setup_instruments WHERE name LIKE 'wait/io/file/innodb/%' ORDER BY name")
)
echo "$found"
[ "$found" = "redo log: more than 10000 bytes written
binlog: 300 writes
instruments of InnoDB's files: innodb_data_file innodb_temp_file" ] || { echo "it has changed"; exit 1; }
