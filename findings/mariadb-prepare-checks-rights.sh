#!/usr/bin/env bash
# MariaDB checks rights when a statement is prepared, PostgreSQL only when it is executed.
#
# Versions: MariaDB 10.11.19 and PostgreSQL 15.18 of Debian 12 (apt-get install mariadb-server-core mariadb-client-core
#   postgresql).
# Guess: preparing parses a statement and nothing more, so that a program may prepare all that it knows at its start, and
#   a user who may only read meets an error with the first change alone, on both servers alike.
# Behaviour: a user with SELECT only cannot PREPARE an UPDATE or INSERT on MariaDB (1142). PostgreSQL prepares both, and
#   rejects EXECUTE. So a client that prepares its statements when it connects cannot serve such a user on MariaDB, even
#   if it only reads.
# Output seen:
#   MariaDB, PREPARE of UPDATE: rejected (1142)
#   MariaDB, PREPARE of INSERT: rejected (1142)
#   MariaDB, PREPARE of SELECT: served
#   PostgreSQL, PREPARE of UPDATE: served
#   PostgreSQL, PREPARE of INSERT: served
#   PostgreSQL, EXECUTE of UPDATE: rejected
#
# Exits with 1 if the behaviour has changed, with 77 if the packages are not installed.
set -u
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
command -v mariadbd >/dev/null && [ -n "$bin" ] || { echo "mariadbd or PostgreSQL is not installed"; exit 77; }
folder=$(mktemp -d)
chmod 755 "$folder"
servers=
end() { for server in $servers; do kill "$server"; wait "$server"; done 2>/dev/null; rm -rf "$folder"; }
trap end EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
root=$([ "$(id -u)" = 0 ] && echo --user=root)
mariadb-install-db --no-defaults $root --datadir="$folder/my" --auth-root-authentication-method=normal --skip-test-db \
    --skip-name-resolve >"$folder/my.log" 2>&1
mariadbd --no-defaults $root --datadir="$folder/my" --socket="$folder/s" --skip-networking --pid-file="$folder/pid" \
    --innodb-buffer-pool-size=32M --log-error="$folder/my.log" 2>>"$folder/my.log" &
servers="$servers $!"
my() { mariadb --no-defaults -S "$folder/s" -N "$@" 2>&1; }
for _ in $(seq 120); do my -uroot -e "SELECT 1" >/dev/null && break; sleep 0.25; done
my -uroot -e "CREATE DATABASE d; CREATE TABLE d.t (a INT); CREATE USER reader@localhost; GRANT SELECT ON d.* TO reader@localhost"
asdb() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
mkdir "$folder/pg"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$folder/pg"
asdb "$bin/initdb" -D "$folder/pg/d" -U postgres -A trust --no-sync >"$folder/pg.log" 2>&1
number=$(port)
asdb "$bin/postgres" -D "$folder/pg/d" -p "$number" -c listen_addresses= -c unix_socket_directories="$folder/pg" \
    >"$folder/pg.log" 2>&1 &
servers="$servers $!"
pg() { "$bin/psql" -h "$folder/pg" -p "$number" -d postgres -XqAt "$@" 2>&1; }
for _ in $(seq 120); do pg -U postgres -c "SELECT 1" >/dev/null && break; sleep 0.25; done
pg -U postgres -c "CREATE TABLE t (a int)" -c "CREATE ROLE reader LOGIN" -c "GRANT SELECT ON t TO reader"
changed=0
check() {
    if echo "$3" | grep -q "$4"; then echo "$1: $2"; else echo "$1 has changed: $3"; changed=1; fi
}
check "MariaDB, PREPARE of UPDATE" "rejected (1142)" "$(my -ureader d -e "PREPARE s FROM 'UPDATE t SET a = 1'")" "1142"
check "MariaDB, PREPARE of INSERT" "rejected (1142)" "$(my -ureader d -e "PREPARE s FROM 'INSERT INTO t VALUES (1)'")" "1142"
check "MariaDB, PREPARE of SELECT" "served" "$(my -ureader d -e "PREPARE s FROM 'SELECT a FROM t'")." "^\.$"
check "PostgreSQL, PREPARE of UPDATE" "served" "$(pg -U reader -c "PREPARE s AS UPDATE t SET a = 1")." "^\.$"
check "PostgreSQL, PREPARE of INSERT" "served" "$(pg -U reader -c "PREPARE s AS INSERT INTO t VALUES (1)")." "^\.$"
check "PostgreSQL, EXECUTE of UPDATE" "rejected" "$(pg -U reader -c "PREPARE s AS UPDATE t SET a = 1" -c "EXECUTE s")" "permission denied"
exit $changed
