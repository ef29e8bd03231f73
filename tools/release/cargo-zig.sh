#!/bin/sh
# Cargo as maturin calls it (`cargo rustc … --target TRIPLE`), with Zig's linker and compilers: those that compile the
# program, so that what both contain is compiled once. GLIBC_TARGET is the triple with the version of glibc,
# COMPILE_EPOCH the time that compilers see.
set -eu
export SOURCE_DATE_EPOCH="$COMPILE_EPOCH"
shift
for word; do
    shift
    [ "$word" != "${GLIBC_TARGET%%.*}" ] || word=$GLIBC_TARGET
    set -- "$@" "$word"
done
exec cargo-zigbuild rustc "$@"
