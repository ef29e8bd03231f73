#!/usr/bin/env bash
# MariaDB: the general query log has what functions and triggers execute, as if the client had sent it.
#
# Version: MariaDB 10.11.19 of Debian 12 (apt-get install mariadb-server-core mariadb-client-core).
# Guess: the manual says that the general log has the statements received from clients, so who counts or replays its
#   "Query" lines gets what clients sent, and a CALL, a function or a trigger is one statement.
# Behaviour: statements inside functions and triggers are "Query" lines with the client's connection number, too. Nothing
#   marks them. Arguments of a function become NAME_CONST('p', 5), which runs elsewhere; the row of a trigger stays as NEW.a,
#   which does not. Those of a procedure that is called by CALL are not in the log. Who replays the log writes rows twice.
# Output seen on 2026-11-28, of three statements that the client sent:
#   SELECT f(5)
#   insert into t values ( NAME_CONST('p',5), 'function')
#   INSERT INTO watched VALUES (7)
#   insert into t values (new.a, 'trigger')
#   CALL c()
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
    --innodb-buffer-pool-size=32M --log-error="$folder/log" --general-log-file="$folder/general" 2>>"$folder/log" &
server=$!
my() { mariadb --no-defaults -S "$folder/s" -uroot -N "$@" 2>&1; }
for _ in $(seq 120); do my -e "SELECT 1" >/dev/null && break; sleep 0.25; done
my <<'SQL'
CREATE DATABASE d;
USE d;
CREATE TABLE t (a int, b varchar(20));
CREATE TABLE watched (a int);
DELIMITER //
CREATE FUNCTION f(p int) RETURNS int begin insert into t values (p, 'function'); return 1; end //
CREATE PROCEDURE c() begin insert into t values (9, 'procedure'); end //
CREATE TRIGGER g AFTER INSERT ON watched FOR EACH ROW begin insert into t values (new.a, 'trigger'); end //
SQL
my -e "SET GLOBAL general_log = ON"
my d -e "SELECT f(5); INSERT INTO watched VALUES (7); CALL c()" >/dev/null
my -e "SET GLOBAL general_log = OFF"
found=$(grep -o "Query[[:space:]].*" "$folder/general" | sed 's/^Query[[:space:]]*//' | grep -v "^SET\|^SELECT DATABASE\|@@")
echo "$found"
[ "$(echo "$found" | grep -c "NAME_CONST('p',5)")" = 1 ] && [ "$(echo "$found" | grep -ci "new.a, 'trigger'")" = 1 ] &&
    ! echo "$found" | grep -q "procedure" || { echo "it has changed"; exit 1; }
