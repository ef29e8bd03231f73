#!/usr/bin/env python3
"""Installs DuckDB's shared library in the user's cache, where triphammer and its tests look for it.

The libraries come from npm (1.5) and Maven Central (2.0), pinned by version and SHA-256, and lie in
$XDG_CACHE_HOME/triphammer/duckdb or ~/.cache/triphammer/duckdb.

    tools/fetch-duckdb.py                  1.5, unless a library is installed there already
    tools/fetch-duckdb.py 1.5|2.0          this version, instead of the one that is installed
    tools/fetch-duckdb.py --print 1.5|2.0  installs nothing; fetches this version and prints its path
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass


@dataclass
class Version:
    """A pinned package: how its archive is fetched, and what is in it."""

    number: str
    command: list
    tool: str                   # the program that fetches it
    debian: str                 # its package
    archive_sha256: str
    member: str                 # the library in the archive
    sha256: str


PINNED = {
    "1.5": Version(
        "1.5.5", ["npm", "pack", "--silent", "@duckdb/node-bindings-linux-x64@1.5.5-r.5"], "npm", "npm",
        "86d2bda909785550e8a14a57a8a4584827aff0e268d8f1a58c3fd48559f7020e", "package/libduckdb.so",
        "fc23f12e376c47be520f75221288281906e7942e8fd6f6ce4849198ba60d0405"),
    "2.0": Version(
        "2.0.0", ["mvn", "-q", "-B", "dependency:copy", "-Dartifact=org.duckdb:duckdb_jdbc:2.0.0.1",
                  "-DoutputDirectory=."], "mvn", "maven",
        "6cb8b0e0fc51b2e45aead2d2c1e1fd09dd10267db2966e69aaab0de67319f826", "libduckdb_java.so_linux_amd64",
        "001983f177ea4e6e4e19a58e77417411d0c2924d0cbbd01f3e901a9f3d2f37c7"),
}
LIBRARY = "libduckdb.so"
DOWNLOAD_MAX_S = 300


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "triphammer", "duckdb")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path, expected):
    found = sha256(path)
    if found != expected:
        sys.exit(f"{os.path.basename(path)} has SHA-256 {found}, not the pinned {expected}")


def download(version, scratch):
    """Fetches the archive of a version into a folder; what is in it then. A connection that hangs is tried again."""
    for last in (False, True):
        try:
            subprocess.run(version.command, cwd=scratch, check=True, stdout=subprocess.DEVNULL, timeout=DOWNLOAD_MAX_S)
            return os.listdir(scratch)
        except subprocess.TimeoutExpired:
            if last:
                sys.exit(f"DuckDB {version.number} could not be fetched within {DOWNLOAD_MAX_S} s, twice: {' '.join(version.command)}")


def fetch(version):
    """The library of a version, in its folder of the cache; downloads it if it is not there."""
    folder = os.path.join(cache(), version.number)
    library = os.path.join(folder, LIBRARY)
    if os.path.exists(library) and sha256(library) == version.sha256:
        return library
    if not shutil.which(version.tool):
        sys.exit(f"{version.tool} is needed to fetch DuckDB {version.number}: apt-get install {version.debian}")
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        [name] = download(version, scratch)
        archive = os.path.join(scratch, name)
        check(archive, version.archive_sha256)
        opened = tarfile.open(archive) if archive.endswith(".tgz") else zipfile.ZipFile(archive)
        with opened:
            opened.extract(version.member, scratch)
        unpacked = os.path.join(scratch, version.member)
        check(unpacked, version.sha256)
        # Complete before it has its name: others may be reading it.
        shutil.copyfile(unpacked, library + ".new")
    os.rename(library + ".new", library)
    return library


def install(library):
    """Makes a library the one that is found in the cache."""
    link = os.path.join(cache(), LIBRARY)
    fresh = f"{link}.{os.getpid()}"
    os.symlink(os.path.relpath(library, cache()), fresh)
    os.rename(fresh, link)


def main():
    arguments = sys.argv[1:]
    only_print = arguments[:1] == ["--print"]
    names = arguments[only_print:]
    if len(names) > 1 or only_print and not names or any(name not in PINNED for name in names):
        sys.exit(__doc__)
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        sys.exit("the pinned libraries are for Linux on x86-64; docs/duckdb.md has the commands for other systems")
    if only_print:
        print(fetch(PINNED[names[0]]))
        return
    if not names and os.environ.get("TRIPHAMMER_DUCKDB"):
        print(f"DuckDB: {os.environ['TRIPHAMMER_DUCKDB']}, by TRIPHAMMER_DUCKDB")
        return
    installed = os.path.join(cache(), LIBRARY)
    if names or not os.path.exists(installed):
        install(fetch(PINNED[names[0] if names else "1.5"]))
    print(f"DuckDB: {os.path.realpath(installed)}")


if __name__ == "__main__":
    main()
