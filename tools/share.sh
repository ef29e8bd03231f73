#!/bin/sh
# Manual pages and shell completions, which the program makes itself, into a share folder, where man and shells look:
#   tools/share.sh PROGRAM SHARE      writes them
#   tools/share.sh --remove SHARE     removes them
set -eu
program=$1 share=$2
man=$share/man/man1
bash=$share/bash-completion/completions/triphammer
zsh=$share/zsh/site-functions/_triphammer
fish=$share/fish/vendor_completions.d/triphammer.fish

# What an earlier version had and this one has not.
rm -f "$man"/triphammer.1* "$man"/triphammer-*.1* "$bash" "$zsh" "$fish"
[ "$program" != --remove ] || exit 0

"$program" man "$man"
mkdir -p "$(dirname "$bash")" "$(dirname "$zsh")" "$(dirname "$fish")"
"$program" completions bash >"$bash"
"$program" completions zsh >"$zsh"
"$program" completions fish >"$fish"
