#!/usr/bin/env bash
# A Galera node that runs as root cannot be joined by rsync, although root may write everywhere.
#
# Versions: MariaDB 10.11.19, Galera 26.4.23 and rsync 3.5.0 of Debian 12 (apt-get install mariadb-server galera-4 rsync).
# Guess: the state transfer (wsrep_sst_method=rsync) runs as the server's user, so a server started with --user=root, as in
#   many containers, receives it like any other.
# Behaviour: the transfer's script starts rsync as a daemon, with a configuration that names no uid. A daemon of the
#   super-user serves as `nobody` then (rsyncd.conf, "uid"), which cannot enter the joiner's folder: the transfer fails and the
#   joiner ends. As another user, here root's own id mapped to one in a user namespace, the same node joins.
# Output seen:
#   root: the joiner ended
#   other: wsrep_cluster_size 2
#
# Exits with 1 if the behaviour has changed, with 77 if it cannot be tried here.
set -u
provider=$(ls /usr/lib/galera/libgalera_smm.so /usr/lib*/galera-4/libgalera_smm.so 2>/dev/null | head -1)
command -v mariadbd >/dev/null && command -v rsync >/dev/null && [ -n "$provider" ] ||
    { echo "mariadbd, rsync or galera-4 is not installed"; exit 77; }
[ "$(id -u)" = 0 ] && unshare --user --map-user=65534 true 2>/dev/null || { echo "needs root and user namespaces"; exit 77; }
folder=$(mktemp -d)
chmod 755 "$folder"
servers=()
end() { [ ${#servers[@]} = 0 ] || { kill -KILL "${servers[@]}"; wait "${servers[@]}"; } 2>/dev/null; rm -rf "$folder"; }
trap end EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# start NAME GROUP OWN FIRST AS…: a node that begins a cluster, if FIRST is empty, or joins the one at that port.
start() {
    local name=$1 own=$2 first=$3 new=
    shift 3
    [ -n "$first" ] || new=--wsrep-new-cluster
    "$@" mariadb-install-db --no-defaults --datadir="$folder/$name" --auth-root-authentication-method=normal \
        --skip-test-db --skip-name-resolve >"$folder/$name.install" 2>&1
    # shellcheck disable=SC2086 # an option or nothing
    "$@" mariadbd --no-defaults $user --datadir="$folder/$name" --socket="$folder/$name.s" --pid-file="$folder/$name.pid" \
        --port="$(port)" --bind-address=127.0.0.1 --skip-name-resolve --innodb-autoinc-lock-mode=2 --binlog-format=ROW \
        --innodb-buffer-pool-size=32M --log-error="$folder/$name.log" --wsrep-on=ON --wsrep-provider="$provider" \
        --wsrep-cluster-address="gcomm://${first:+127.0.0.1:$first}" --wsrep-node-address=127.0.0.1 \
        --wsrep-sst-method=rsync --wsrep-sst-receive-address="127.0.0.1:$(port)" $new \
        --wsrep-provider-options="base_host=127.0.0.1;base_port=$own;gmcast.listen_addr=tcp://127.0.0.1:$own;ist.recv_addr=127.0.0.1:$(port)" &
    servers+=($!)
}
size() { mariadb --no-defaults -uroot -S "$folder/$1.s" -Nse "SHOW STATUS LIKE 'wsrep_cluster_size'" 2>/dev/null | cut -f2; }
ready() { mariadb --no-defaults -uroot -S "$folder/$1.s" -Nse "SHOW STATUS LIKE 'wsrep_ready'" 2>/dev/null | grep -q ON; }
# Whether the second node of a cluster joins within a minute.
try() {
    local group other
    group=$(port) other=$(port)
    start "$1-1" "$group" "" "${@:2}"
    for _ in $(seq 120); do ready "$1-1" && break; sleep 0.25; done
    ready "$1-1" || { echo "$1: the first node did not start"; tail -3 "$folder/$1-1.log"; exit 1; }
    start "$1-2" "$other" "$group" "${@:2}"
    local joiner=${servers[-1]}
    for _ in $(seq 240); do
        ready "$1-2" && { echo "$1: wsrep_cluster_size $(size "$1-2")"; return 0; }
        kill -0 "$joiner" 2>/dev/null || { echo "$1: the joiner ended"; return 1; }
        sleep 0.25
    done
    echo "$1: the joiner waits"
    return 1
}
user=--user=root
try root env && { echo "a node of root can be joined now"; exit 1; }
user=
try other unshare --user --map-user=65534 --map-group=65534 || { tail -5 "$folder"/*-2.log; exit 1; }
exit 0
