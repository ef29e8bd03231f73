#!/usr/bin/env bash
# MariaDB: no counter of the server counts transactions that commit.
#
# Version: MariaDB 10.11.19 of Debian 12 (apt-get install mariadb-server-core mariadb-client-core).
# Guess: Com_commit counts the statement COMMIT, and Handler_commit counts transactions that an engine committed, so that
#   one of them, or their sum with the autocommit statements, is the number of transactions per second.
# Behaviour: autocommit statements never count in Com_commit. Handler_commit counts one for each of them, reads included, but
#   for an explicit transaction it counts one for each statement and one for its end: three for two updates and a COMMIT. The
#   same work counts 2 or 3, so Handler_commit is not a number of transactions either.
# Output seen on 2026-11-28:
#   100 autocommit reads: Com_commit 0, Handler_commit 100
#   100 autocommit updates: Com_commit 0, Handler_commit 100
#   100 transactions of two updates: Com_commit 100, Handler_commit 300
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
    --innodb-buffer-pool-size=32M --log-error="$folder/log" 2>>"$folder/log" &
server=$!
my() { mariadb --no-defaults -S "$folder/s" -uroot -N "$@" 2>&1; }
for _ in $(seq 120); do my -e "SELECT 1" >/dev/null && break; sleep 0.25; done
my -e "CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT); INSERT INTO d.t VALUES (1, 0), (2, 0)"
# The counters of the session, before and after 100 times the same text.
counted() {
    local text="SHOW SESSION STATUS WHERE Variable_name IN ('Com_commit', 'Handler_commit')"
    { echo "$text;"; for _ in $(seq 100); do echo "$2"; done; echo "$text;"; } | my d |
        awk -v what="$1" '$1 == "Com_commit" || $1 == "Handler_commit" { value[$1] = $2 - value[$1] }
            END { printf "100 %s: Com_commit %d, Handler_commit %d\n", what, value["Com_commit"], value["Handler_commit"] }'
}
found=$(counted "autocommit reads" "SELECT b INTO @b FROM t WHERE a = 1;"
counted "autocommit updates" "UPDATE t SET b = b + 1 WHERE a = 1;"
counted "transactions of two updates" "BEGIN; UPDATE t SET b = b + 1 WHERE a = 1; UPDATE t SET b = b + 1 WHERE a = 2; COMMIT;")
echo "$found"
[ "$found" = "100 autocommit reads: Com_commit 0, Handler_commit 100
100 autocommit updates: Com_commit 0, Handler_commit 100
100 transactions of two updates: Com_commit 100, Handler_commit 300" ] || { echo "it has changed"; exit 1; }
