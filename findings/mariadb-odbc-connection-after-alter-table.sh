#!/usr/bin/env bash
# MariaDB Connector/ODBC: after a column was added, a prepared SELECT * makes its whole connection unusable.
#
# Versions: odbc-mariadb 3.1.15, odbc-postgresql 13.02, MariaDB 10.11.19 and PostgreSQL 15.18 of Debian 12
#   (apt-get install odbc-mariadb odbc-postgresql mariadb-server-core mariadb-client-core postgresql unixodbc), pyodbc 5.2.0.
# Guess: the driver prepares again, as the server itself does, or returns one error, after which the statement or at least
#   the others of the connection work.
# Behaviour: MariaDB's driver returns 2057 (more columns than it has bound) for that statement, every time, and leaves the
#   rows of its answer on the wire: every other statement of the connection then fails with 2014 (commands out of sync),
#   although nothing of it changed. Only a new connection helps. PostgreSQL's driver returns 0A000 for that statement, every
#   time; other statements of its connection work, and so does the same text in a new statement.
# Output seen on 2026-11-28:
#   MariaDB: the prepared statement 2057, again 2057; another statement 2014
#   PostgreSQL: the prepared statement 0A000, again 0A000; another statement works
#
# Exits with 1 if the behaviour has changed, with 77 if the packages are not installed.
set -u
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
drivers=$(ls -d /usr/lib/*/odbc 2>/dev/null | tail -1)
[ -n "$bin" ] && command -v mariadbd >/dev/null && [ -e "$drivers/libmaodbc.so" ] && [ -e "$drivers/psqlodbcw.so" ] ||
    { echo "a server or an ODBC driver is not installed"; exit 77; }
folder=$(mktemp -d)
chmod 755 "$folder"
servers=
end() { for server in $servers; do kill "$server"; wait "$server"; done 2>/dev/null; rm -rf "$folder"; }
trap end EXIT
python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" -q install pyodbc==5.2.0 ||
    { echo "pyodbc cannot be installed"; exit 77; }
root=$([ "$(id -u)" = 0 ] && echo --user=root)
mariadb-install-db --no-defaults $root --datadir="$folder/my" --auth-root-authentication-method=normal --skip-test-db \
    --skip-name-resolve >"$folder/my.log" 2>&1
mariadbd --no-defaults $root --datadir="$folder/my" --socket="$folder/s" --skip-networking --pid-file="$folder/pid" \
    --innodb-buffer-pool-size=32M --log-error="$folder/my.log" 2>>"$folder/my.log" &
servers="$servers $!"
asdb() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
mkdir "$folder/pg"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$folder/pg"
asdb "$bin/initdb" -D "$folder/pg/d" -U postgres -A trust --no-sync >"$folder/pg.log" 2>&1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
asdb "$bin/postgres" -D "$folder/pg/d" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$folder/pg" \
    >"$folder/pg.log" 2>&1 &
servers="$servers $!"
for _ in $(seq 120); do
    mariadb --no-defaults -S "$folder/s" -uroot -e "CREATE DATABASE d" 2>/dev/null && break
    sleep 0.25
done
for _ in $(seq 120); do
    "$bin/psql" -h "$folder/pg" -p "$port" -U postgres -qc "SELECT 1" >/dev/null 2>&1 && break
    sleep 0.25
done
cat >"$folder/alter.py" <<'P'
import re
import sys

import pyodbc


def answer(cursor, sql, *values):
    try:
        cursor.execute(sql, *values).fetchall()
        return "works"
    except pyodbc.Error as error:
        native = re.search(r"\((\d{4})\)", str(error))
        return native[1] if native else error.args[0]


name, target = sys.argv[1:]
measured = pyodbc.connect(target, autocommit=True)
cursor, other = measured.cursor(), pyodbc.connect(target, autocommit=True).cursor()
other.execute("CREATE TABLE t (a INT, b INT)")
other.execute("INSERT INTO t VALUES (1, 2)")
prepared = "SELECT * FROM t WHERE a = ?"
assert answer(cursor, prepared, 1) == "works" and answer(cursor, prepared, 1) == "works"
other.execute("ALTER TABLE t ADD COLUMN c INT")
first, again = answer(cursor, prepared, 1), answer(cursor, prepared, 1)
print(f"{name}: the prepared statement {first}, again {again}; another statement", answer(measured.cursor(), "SELECT 1"))
P
found=$("$folder/venv/bin/python" "$folder/alter.py" MariaDB "DRIVER=$drivers/libmaodbc.so;SOCKET=$folder/s;UID=root;DATABASE=d"
"$folder/venv/bin/python" "$folder/alter.py" PostgreSQL \
    "DRIVER=$drivers/psqlodbcw.so;SERVER=127.0.0.1;PORT=$port;UID=postgres;DATABASE=postgres")
echo "$found"
[ "$found" = "MariaDB: the prepared statement 2057, again 2057; another statement 2014
PostgreSQL: the prepared statement 0A000, again 0A000; another statement works" ] || { echo "it has changed"; exit 1; }
