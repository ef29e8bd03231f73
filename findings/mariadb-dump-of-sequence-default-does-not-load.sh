#!/usr/bin/env bash
# MariaDB: a dump of a table whose key comes from a sequence does not load where mariadb-dump wrote it with its own options.
#
# Version: MariaDB 10.11.19 of Debian 12 (apt-get install mariadb-server-core mariadb-client-core mariadb-client).
# Guess: mariadb-dump writes the sequence (CREATE SEQUENCE, SETVAL), the table with its DEFAULT, and rows with all their values:
#   the default is not evaluated, so the dump loads like that of any table.
# Behaviour: under LOCK TABLES, INSERT into such a table needs the lock of the sequence as well, even where the row has a value
#   for the column. mariadb-dump locks the table alone around its rows, so loading ends with error 1100 and the table is empty;
#   with --skip-add-locks it loads. Whoever copies rows under LOCK TABLES must lock the sequences of the defaults, too.
#   And the default names the schema that the dump was made of: loaded under another name, it draws from the first schema's
#   sequence.
# Output seen on 2026-12-01:
#   dump, loaded where it was made: ERROR 1100 (HY000) at line N: Table 'q' was not locked with LOCK TABLES
#   rows: 0
#   dump with --skip-add-locks, rows: 2
#   loaded into another schema, the default: nextval(`first`.`q`)
#
# Exits with 1 if the behaviour has changed, with 77 if the packages are not installed.
set -u
command -v mariadbd >/dev/null && command -v mariadb-dump >/dev/null ||
    { echo "mariadbd or mariadb-dump is not installed"; exit 77; }
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
my <<'SQL'
CREATE DATABASE first;
CREATE DATABASE other;
USE first;
CREATE SEQUENCE q;
CREATE TABLE t (id bigint NOT NULL DEFAULT NEXTVAL(q) PRIMARY KEY, v int);
INSERT INTO t (v) VALUES (1), (2);
SQL
dump() { mariadb-dump --no-defaults -S "$folder/s" -uroot "$@" first; }
dump >"$folder/with.sql"
dump --skip-add-locks >"$folder/without.sql"
changed=0
said=$(my first <"$folder/with.sql" | grep ERROR | sed 's/at line [0-9]*/at line N/')
rows=$(my first -e "SELECT COUNT(*) FROM t")
echo "dump, loaded where it was made: $said"
echo "rows: $rows"
[ "$said" = "ERROR 1100 (HY000) at line N: Table 'q' was not locked with LOCK TABLES" ] && [ "$rows" = 0 ] || changed=1
my other <"$folder/without.sql"
rows=$(my other -e "SELECT COUNT(*) FROM t")
echo "dump with --skip-add-locks, rows: $rows"
default=$(my other -e "SHOW CREATE TABLE t" | grep -o 'nextval([^)]*)')
echo "loaded into another schema, the default: $default"
[ "$rows" = 2 ] && [ "$default" = 'nextval(`first`.`q`)' ] || changed=1
[ "$changed" = 0 ] || echo "it has changed"
exit "$changed"
