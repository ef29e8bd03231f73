#!/bin/sh
# Installs triphammer from the files of a release: downloads the archive for this machine, verifies it, and copies
# program, manual pages and completions. See docs/install.md.
set -eu

usage() {
    cat <<'END'
Usage: install.sh [--from URL] [--prefix FOLDER] [--signers FILE] [--static]
       install.sh --remove [--prefix FOLDER]

  --from URL       where the files of the release are: https://…, file://… or a folder
  --prefix FOLDER  where to install: FOLDER/bin and FOLDER/share (/usr/local for root, otherwise ~/.local)
  --signers FILE   the publisher's public key, or a file of allowed signers (ssh-keygen): the release must be signed by it
  --static         the build that needs no C library; it cannot load DuckDB and ODBC drivers
  --remove         remove what an installation has copied
END
}

# The publisher writes the address of the release here.
from=
signers='' static='' remove=''
prefix=$HOME/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local
# The oldest C library that the program runs with.
glibc=2.28

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 2
}

need() {
    command -v "$1" >/dev/null || fail "$1 is not installed, which $2"
}

# Reads the arguments.
arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --from | --prefix | --signers) [ $# -gt 1 ] || fail "$1 needs a value" ;;
        esac
        case $1 in
            --from) from=$2 && shift ;;
            --prefix) prefix=$2 && shift ;;
            --signers) signers=$2 && shift ;;
            --static) static=-musl-static ;;
            --remove) remove=yes ;;
            --help) usage && exit ;;
            *) fail "unknown argument: $1 (--help shows all)" ;;
        esac
        shift
    done
    case $prefix in
        /*) ;;
        *) prefix=$PWD/$prefix ;;
    esac
}

# Says whether this machine can run the program, before anything is downloaded.
machine() {
    [ "$(uname -s)" = Linux ] || fail "triphammer is built for Linux, and this is $(uname -s)"
    machine=$(uname -m)
    case $machine in
        x86_64 | aarch64) ;;
        arm64) machine=aarch64 ;;
        *) fail "triphammer is built for x86_64 and aarch64, and this machine is $machine" ;;
    esac
    [ -z "$static" ] || return 0
    here=$(getconf GNU_LIBC_VERSION 2>/dev/null) || here=
    case $here in
        'glibc '*) here=${here#glibc } ;;
        *) fail "triphammer needs glibc $glibc or later, and the C library of this system is another one (--static" \
            "installs a build that needs none)" ;;
    esac
    oldest=$(printf '%s\n%s\n' "$glibc" "$here" | sort -V | head -n 1)
    [ "$oldest" = "$glibc" ] || fail "triphammer needs glibc $glibc or later, and this system has glibc $here" \
        "(--static installs a build that needs none)"
}

# Copies a file of the release into the current folder.
fetch() {
    case $from in
        *://*)
            if command -v curl >/dev/null; then
                curl --fail --silent --show-error --location --retry 3 --output "$1" "$from/$1"
            elif command -v wget >/dev/null && [ "${from#file://}" = "$from" ]; then
                wget --quiet --output-document="$1" "$from/$1"
            elif [ "${from#file://}" != "$from" ]; then
                cp "${from#file://}/$1" "$1"
            else
                fail "neither curl nor wget is installed, one of which downloads the release"
            fi || fail "cannot get $from/$1"
            ;;
        *) cp "$from/$1" "$1" || fail "cannot read $from/$1" ;;
    esac
}

# Verifies that the list of sums is signed by a key of the signers.
signature() {
    need ssh-keygen "verifies signatures: install OpenSSH's client"
    [ -r "$signers" ] || fail "cannot read the signers in $signers"
    case $(head -n 1 "$signers") in
        ssh-* | ecdsa-* | sk-*) sed 's/^/triphammer /' "$signers" >allowed ;;
        *) cp "$signers" allowed ;;
    esac
    fetch SHA256SUMS.sig
    identity=$(ssh-keygen -Y find-principals -s SHA256SUMS.sig -f allowed 2>/dev/null | head -n 1) || identity=
    [ -n "$identity" ] || fail "SHA256SUMS is signed by a key that is not in $signers: nothing is installed"
    ssh-keygen -Y verify -f allowed -I "$identity" -n file -s SHA256SUMS.sig <SHA256SUMS >/dev/null 2>&1 \
        || fail "the signature of SHA256SUMS is wrong: nothing is installed"
}

# Gets the archive of this machine, verified, and unpacks it into `unpacked`.
get() {
    need tar 'unpacks the archive'
    need gzip 'unpacks the archive'
    need sha256sum 'verifies the archive'
    fetch SHA256SUMS
    [ -z "$signers" ] || signature
    archive=$(sed -n "s/^[0-9a-f]\{64\}  \(triphammer-[0-9][^ /]*-$machine-linux$static\.tar\.gz\)\$/\1/p" SHA256SUMS)
    [ -n "$archive" ] || fail "the release has no archive for $machine$static"
    [ "$(printf '%s\n' "$archive" | wc -l)" = 1 ] || fail "SHA256SUMS has several archives for $machine: $archive"
    fetch "$archive"
    [ "$(sed -n "s/  $archive\$//p" SHA256SUMS)" = "$(sha256sum "$archive" | cut -d ' ' -f 1)" ] \
        || fail "the SHA-256 sum of $archive is not that of SHA256SUMS: it is damaged or another file; nothing is installed"
    mkdir unpacked
    tar -xzf "$archive" -C unpacked || fail "cannot unpack $archive"
    mv unpacked/*/* unpacked/
    unpacked/bin/triphammer --version >/dev/null 2>error \
        || fail "the program does not run here, and nothing is installed: $(head -n 1 error)"
    mkdir -p unpacked/share/doc/triphammer
    mv unpacked/README.md unpacked/LICENSE unpacked/THIRD-PARTY-LICENSES unpacked/share/doc/triphammer/
}

# The folders that the files need and that do not exist, each with a slash at its end; and those that were made before.
folders() {
    sed 's|/[^/]*$||' files | awk -F / '{ path = $1; print path; for (i = 2; i <= NF; i++) print path = path "/" $i }' \
        | sort -u | while read -r folder; do
            [ -d "$prefix/$folder" ] || echo "$folder/"
        done
    grep '/$' before || true
}

# Copies all files beside their places.
beside() {
    while read -r file; do
        mkdir -p "$prefix/${file%/*}" && cp "unpacked/$file" "$prefix/$file.new" || return
    done <files
}

# Copies all files beside their places, and only then renames them: a full disk leaves nothing behind.
copy() {
    list=share/doc/triphammer/installed
    (cd unpacked && find bin share -type f && echo $list) | sort -u >files
    cat "$prefix/$list" 2>/dev/null >before || true
    folders | cat files - | sort -u >installed
    cp installed unpacked/$list
    beside 2>error || {
        drop .new installed
        fail "cannot write to $prefix, and nothing is installed: $(head -n 1 error)"
    }
    while read -r file; do
        mv -f "$prefix/$file.new" "$prefix/$file"
    done <files
    # What an earlier version had and this one has not.
    grep -vxFf installed before >obsolete || true
    drop '' obsolete
}

# Removes the files of a list, with an ending, and its folders if they are empty.
drop() {
    grep -v '/$' "$2" | while read -r file; do
        rm -f "$prefix/$file$1"
    done
    grep '/$' "$2" | sort -r | while read -r folder; do
        rmdir "$prefix/$folder" 2>/dev/null || true
    done
}

main() {
    arguments "$@"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 2' INT TERM HUP
    if [ -n "$remove" ]; then
        cp "$prefix/share/doc/triphammer/installed" "$work/installed" 2>/dev/null \
            || fail "this script has not installed triphammer in $prefix"
        cd "$work"
        drop '' installed
        echo "removed triphammer from $prefix; stored jobs stay where they are"
        return
    fi
    [ -n "$from" ] || fail "say where the files of the release are: --from URL or --from FOLDER"
    case $from in
        *://* | /*) ;;
        *) from=$PWD/$from ;;
    esac
    case $signers in
        '' | /*) ;;
        *) signers=$PWD/$signers ;;
    esac
    machine
    cd "$work"
    get
    copy
    echo "installed $("$prefix/bin/triphammer" --version) into $prefix$([ -n "$signers" ] || echo ' (sum verified, signature not: see --signers)')"
    case :$PATH: in
        *:"$prefix/bin":*) ;;
        *) echo "add $prefix/bin to PATH" ;;
    esac
}

main "$@"
