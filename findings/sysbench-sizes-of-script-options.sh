#!/usr/bin/env bash
# sysbench 1.0.20 (Debian 12): units such as K in options of scripts, such as --table-size of the oltp tests.
#
# Guess: --table-size=2K makes 2,048 rows, as --report-interval and file sizes (--file-total-size=2G) suggest, or is an error.
# Behaviour: an option whose default is a Lua number, as is that of --table-size, is a double, and is read up to the first
#   character that is none: 2K is 2 rows. Nothing says so, and the test runs, much faster. Only an option that is declared
#   with sysbench.cmdline.ARG_SIZE has units.
# Output seen on 2026-11-28:
#   a number, 2K: 2
#   ARG_SIZE, 2K: 2048
#   a number, 1e3: 1000
set -eu
command -v sysbench >/dev/null || { echo "sysbench is not installed: apt-get install sysbench" >&2; exit 2; }
sysbench --version | grep -q 'sysbench 1\.0\.' || { echo "another version: $(sysbench --version)" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/options.lua" <<'L'
sysbench.cmdline.options = {
   table_size = {"Rows, declared as the oltp tests do", 10000},
   size = {"A size", 1, sysbench.cmdline.ARG_SIZE},
}
function event() io.stderr:write(sysbench.opt.table_size, " ", sysbench.opt.size, "\n") end
L
read_as() { sysbench "$folder/options.lua" "$@" --events=1 --time=0 run 2>&1 >"$folder/out" | tail -1; }
number=$(read_as --table-size=2K | cut -d' ' -f1)
size=$(read_as --size=2K | cut -d' ' -f2)
power=$(read_as --table-size=1e3 | cut -d' ' -f1)
printf 'a number, 2K: %s\nARG_SIZE, 2K: %s\na number, 1e3: %s\n' "$number" "$size" "$power"
[ "$number $size $power" = "2 2048 1000" ] || { echo "sysbench behaves otherwise now" >&2; exit 1; }
