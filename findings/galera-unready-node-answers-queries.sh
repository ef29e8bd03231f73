#!/usr/bin/env bash
# A node that is cut off from its Galera cluster passes the usual health checks.
#
# Versions: MariaDB 10.11.19 and Galera 26.4.23 of Debian 12 (apt-get install mariadb-server-core
#   mariadb-client-core galera-4).
# Guess: MariaDB's page on wsrep_dirty_reads says of a node outside the primary component: "When set to OFF, read
#   operations return an error." So with the default, OFF, every SELECT is rejected with 1047, and a check with one shows it.
# Behaviour: a SELECT without a table (SELECT 1, SELECT @@read_only) and one from information_schema succeed; START
#   TRANSACTION, COMMIT, statements on tables and their PREPARE are rejected. So a balancer or pool that checks with
#   SELECT 1 keeps sending work to the node; wsrep_ready has to be read.
# Output seen:
#   wsrep_ready OFF
#   served:   SELECT 1 | SELECT @@global.read_only | SELECT 1 FROM information_schema.processlist LIMIT 1
#   rejected: START TRANSACTION (1047) | SELECT * FROM t.t (1047) | PREPARE s FROM 'SELECT * FROM t.t' (1047) | COMMIT (1047)
#
# Exits with 1 if the behaviour has changed, with 77 if the packages are not installed.
set -u
provider=$(ls /usr/lib/galera/libgalera_smm.so /usr/lib*/galera-4/libgalera_smm.so 2>/dev/null | head -1)
command -v mariadbd >/dev/null && [ -n "$provider" ] || { echo "mariadbd or galera-4 is not installed"; exit 77; }
folder=$(mktemp -d)
server=
end() { [ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null; rm -rf "$folder"; }
trap end EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
sql=$(port) group=$(port)
root=$([ "$(id -u)" = 0 ] && echo --user=root)
mariadb-install-db --no-defaults $root --datadir="$folder/data" --auth-root-authentication-method=normal --skip-test-db \
    --skip-name-resolve >"$folder/install.log" 2>&1
mariadbd --no-defaults $root --datadir="$folder/data" --socket="$folder/s" --pid-file="$folder/pid" --port="$sql" \
    --bind-address=127.0.0.1 --skip-name-resolve --innodb-autoinc-lock-mode=2 --binlog-format=ROW \
    --innodb-buffer-pool-size=32M --log-error="$folder/log" --wsrep-on=ON --wsrep-provider="$provider" \
    --wsrep-cluster-address=gcomm:// --wsrep-node-address="127.0.0.1:$group" --wsrep-sst-method=rsync \
    --wsrep-provider-options="base_port=$group;gmcast.listen_addr=tcp://127.0.0.1:$group" --wsrep-new-cluster &
server=$!
ask() { mariadb --no-defaults -uroot -S "$folder/s" -Nse "$1" 2>&1; }
ready() { for _ in $(seq 120); do ask "SHOW STATUS LIKE 'wsrep_ready'" | grep -q "$1" && return; sleep 0.25; done; return 1; }
ready ON || { echo "the node did not start"; tail -3 "$folder/log"; exit 1; }
ask "CREATE DATABASE t; CREATE TABLE t.t (a INT PRIMARY KEY)"
# Leaves the cluster, as a node does that loses the others.
ask "SET GLOBAL wsrep_cluster_address = ''" >/dev/null
ready OFF || { echo "the node stays ready"; exit 1; }
echo "wsrep_ready OFF"
changed=0
check() {
    answer=$(ask "$2")
    case "$1:$answer" in
    served:ERROR* | served:*"ERROR "*) echo "now rejected: $2: $answer"; changed=1 ;;
    served:*) echo "served:   $2" ;;
    rejected:*1047*) echo "rejected: $2 (1047)" ;;
    *) echo "now served: $2: $answer"; changed=1 ;;
    esac
}
check served "SELECT 1"
check served "SELECT @@global.read_only"
check served "SELECT 1 FROM information_schema.processlist LIMIT 1"
check rejected "START TRANSACTION"
check rejected "SELECT * FROM t.t"
check rejected "PREPARE s FROM 'SELECT * FROM t.t'"
check rejected "COMMIT"
exit $changed
