#!/usr/bin/env bash
# PostgreSQL 15: a client's certificate with a key on the curve P-521 or P-384 logs in with TLS 1.3, and not with TLS 1.2.
#
# Program: Debian 12's postgresql (15.18) and OpenSSL 3.0. Nothing else is installed.
# A good engineer would guess: ssl_ecdh_curve "specifies the name of the curve to use in ECDH key exchange", as the manual
# says, so it has nothing to do with certificates. The server trusts the authority, so the client's key does not matter.
# Behaviour: with TLS 1.2, OpenSSL takes certificates on the curves of that setting only (RFC 8422 makes them one list), and
# its default is prime256v1 alone. The client is told "illegal parameter", the server's log says "wrong curve". Keys that are
# on no curve (RSA, Ed25519) and TLS 1.3 are not affected.
#
# Output seen on 2026-11-28:
#   TLSv1.3, P-521 key, ssl_ecdh_curve prime256v1: logged in
#   TLSv1.2, P-521 key, ssl_ecdh_curve prime256v1: alert illegal parameter
#   TLSv1.2, P-384 key, ssl_ecdh_curve prime256v1: alert illegal parameter
#   TLSv1.2, P-521 key, ssl_ecdh_curve secp521r1: logged in
#
# Exit code: 0 while the server behaves so, 1 if not, 2 if it could not be tried.
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -x "$bin/postgres" ] || { echo "apt-get install postgresql"; exit 2; }
command -v openssl >/dev/null || { echo "apt-get install openssl"; exit 2; }
folder=$(mktemp -d /tmp/finding.XXXX)
chmod 755 "$folder"
asdb() { if [ "$(id -u)" = 0 ]; then unshare --user --map-user=65534 --map-group=65534 "$@"; else "$@"; fi; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
trap 'asdb "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
make() { openssl req -x509 -nodes -days 2 -keyout "$1.key" -out "$1.crt" -subj "/CN=$2" "${@:3}" 2>/dev/null; }
make ca authority -newkey rsa:2048
for key in server:localhost:prime256v1 P-521:certified:secp521r1 P-384:certified:secp384r1; do
    IFS=: read -r file name curve <<<"$key"
    make "$file" "$name" -newkey ec -pkeyopt "ec_paramgen_curve:$curve" -CA ca.crt -CAkey ca.key -addext basicConstraints=CA:FALSE
done
asdb "$bin/initdb" -D "$folder/data" -U postgres -A trust --no-locale --no-sync >/dev/null
echo "hostssl all certified all cert" >"$folder/data/pg_hba.conf"
echo "local all all trust" >>"$folder/data/pg_hba.conf"
asdb "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "-c listen_addresses=127.0.0.1 -p $port -c fsync=off \
  -c unix_socket_directories=$folder -c ssl=on -c ssl_cert_file=$folder/server.crt -c ssl_key_file=$folder/server.key \
  -c ssl_ca_file=$folder/ca.crt" start >/dev/null
admin() { "$bin/psql" -Xqh "$folder" -p "$port" -U postgres -c "$1" >/dev/null; }
admin "CREATE ROLE certified LOGIN"
# The outcome of a login with this version of TLS, this client's key, and this setting.
login() {
    admin "ALTER SYSTEM SET ssl_ecdh_curve = '$3'"
    admin "SELECT pg_reload_conf()"
    sleep 1
    local said
    said=$(PGSSLMINPROTOCOLVERSION=$1 PGSSLMAXPROTOCOLVERSION=$1 "$bin/psql" -Xqtc "SELECT 'logged in'" \
        "host=127.0.0.1 port=$port user=certified dbname=postgres sslmode=require sslcert=$folder/$2.crt sslkey=$folder/$2.key" 2>&1 |
        sed -n 's/.*\(logged in\|alert .*\)$/\1/p' | head -1)
    echo "$1, $2 key, ssl_ecdh_curve $3: $said"
}
found=$(login TLSv1.3 P-521 prime256v1
login TLSv1.2 P-521 prime256v1
login TLSv1.2 P-384 prime256v1
login TLSv1.2 P-521 secp521r1)
echo "$found"
case $found in
    *"TLSv1.3, P-521 key, ssl_ecdh_curve prime256v1: logged in"*"TLSv1.2, P-521 key, ssl_ecdh_curve prime256v1: alert illegal parameter"*"TLSv1.2, P-384 key, ssl_ecdh_curve prime256v1: alert illegal parameter"*"TLSv1.2, P-521 key, ssl_ecdh_curve secp521r1: logged in"*) ;;
    *) echo "it has changed"; exit 1 ;;
esac
