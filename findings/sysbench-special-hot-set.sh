#!/usr/bin/env bash
# sysbench 1.0.20 (Debian 12), its default distribution `special`: which values are hot.
#
# Its help says: --rand-spec-pct=1 "percentage of values to be treated as 'special'", --rand-spec-res=75
# "percentage of 'special' values to use". A good guess: 75 % of all draws hit 1 % of the values, in the
# middle of the range: 100 of the values from 1 to 10,000, and one of those from 1 to 100.
#
# What it does: --rand-spec-res scales the hot set, too, and the hot set need not begin or end between two
# values. It is 75 % of (1 % of the range and one more value), and ends at the end of that part, so it is not
# in its middle. Of 1 to 10,000, 76 values have 1.02 % each instead of 100 with 0.75 %. Of 1 to 100, one
# value alone has 51 % of all draws, and its neighbour below 26 %: a "1 %" hot set is two rows, and one row
# takes half of all updates.
#
# Output on 2026-11-27:
#   1 to 10000: 76 hot values, 4976 to 5051, together 75.6 %
#   1 to 100: the hottest values are 51 with 51.2 % and 50 with 26.2 %
set -eu
command -v sysbench >/dev/null || { echo "sysbench is not installed: apt-get install sysbench" >&2; exit 2; }
sysbench --version | grep -q 'sysbench 1\.0\.' || { echo "another version: $(sysbench --version)" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/draw.lua" <<'L'
sysbench.cmdline.options = {high = {"Largest value", 100}}
function event()
   local counts, draws = {}, 1000000
   for _ = 1, draws do
      local value = sysbench.rand.special(1, sysbench.opt.high)
      counts[value] = (counts[value] or 0) + 1
   end
   for value, count in pairs(counts) do io.stderr:write(value, " ", count / draws * 100, "\n") end
end
L
draw() { sysbench "$folder/draw.lua" --high="$1" --events=1 --time=0 --rand-seed=7 run 2>"$folder/$1" >"$folder/out"; }
draw 10000
draw 100
hot=$(awk '$2 > 0.5 { n++; sum += $2; if (!low || $1 < low) low = $1; if ($1 > high) high = $1 }
   END { printf "%d hot values, %d to %d, together %.1f %%", n, low, high, sum }' "$folder/10000")
echo "1 to 10000: $hot"
top=$(sort -k2,2nr "$folder/100" | awk 'NR == 1 { printf "%d with %.1f %%", $1, $2 } NR == 2 { printf " and %d with %.1f %%", $1, $2 }')
echo "1 to 100: the hottest values are $top"
case "$hot $top" in
   "76 hot values, 4976 to 5051, together 75."*" 51 with 51."*" and 50 with 26."*) ;;
   *) echo "sysbench behaves otherwise now" >&2; exit 1 ;;
esac
