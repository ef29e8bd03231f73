"""Archives, Debian and RPM packages from the program and what lies beside it."""

import datetime
import gzip
import json
import os
import subprocess
import tarfile
import tempfile

from . import licenses, pins
from .build import GLIBC
from .common import DIST, epoch, run, version
from .share import SHARE

DESCRIPTION = """Database load testing and benchmarking
Builds standard schemas, drives PostgreSQL, MySQL, MariaDB, SQLite, DuckDB and Trino with standard workloads (TPROC-C,
TPROC-H, CH-benCHmark, tpc-b) and with your own SQL, measures throughput and response times, and says what limited them.
With a web page and reports in several formats."""
# Folders of completions and documents, from those of `SHARE`, which are those of /usr/local/share.
DEB = {"zsh/site-functions": "zsh/vendor-completions"}
TOP = ["README.md", "LICENSE", licenses.NAME]


def shared():
    """The files beside the program, each with its path in a `share` folder."""
    for file in sorted(SHARE.rglob("*")):
        if file.is_file():
            yield file, str(file.relative_to(SHARE))


def archive(target, program):
    """Packs an archive with `bin` and `share` in one folder; returns its file."""
    name = f"triphammer-{version()}-{target.label}"
    entries = {"bin/triphammer": program, **{f"share/{path}": file for file, path in shared()}}
    for document in TOP:
        entries[document] = entries.pop(f"share/doc/triphammer/{document}")
    file = DIST / f"{name}.tar.gz"
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=epoch()) as packed:
        add_all(packed, {f"{name}/{path}": source for path, source in entries.items()})
    return file


def add_all(stream, entries, owner=0):
    """Writes files as a tar archive: sorted, with one time and one owner; folders are entries of their own."""
    folders = {"/".join(path.split("/")[:depth]) for path in entries for depth in range(1, path.count("/") + 1)}
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted([*folders, *entries]):
            entry = tarfile.TarInfo(path)
            entry.mtime, entry.uid, entry.gid = epoch(), owner, owner
            if path in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            else:
                content = entries[path].read_bytes()
                entry.size, entry.mode = len(content), 0o755 if "/bin/" in path else 0o644
                with open(entries[path], "rb") as file:
                    tar.addfile(entry, file)


def contents(program):
    """The files of both packages, as nfpm describes them."""
    yield {"src": str(program), "dst": "/usr/bin/triphammer", "file_info": {"mode": 0o755}}
    for file, path in shared():
        entry = {"src": str(file), "file_info": {"mode": 0o644}}
        moved = next((path.replace(old, new) for old, new in DEB.items() if path.startswith(old)), None)
        if moved:
            yield {**entry, "dst": f"/usr/share/{moved}", "packager": "deb"}
            yield {**entry, "dst": f"/usr/share/{path}", "packager": "rpm"}
        elif path.endswith("/LICENSE"):  # Debian's policy gives this name
            yield {**entry, "dst": "/usr/share/doc/triphammer/copyright", "packager": "deb"}
            yield {**entry, "dst": f"/usr/share/{path}", "packager": "rpm", "type": "license"}
        elif path.endswith(("/CHANGELOG.md", f"/{licenses.NAME}")):
            small = file.with_name(file.name + ".gz")
            small.write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
            name = "changelog" if "CHANGELOG" in path else licenses.NAME
            yield {**entry, "src": str(small), "dst": f"/usr/share/doc/triphammer/{name}.gz"}
        else:
            yield {**entry, "dst": f"/usr/share/{path}"}


def packages(target, program):
    """Packs a Debian and an RPM package; returns their files."""
    time = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc)
    description = {
        "name": "triphammer", "version": version(), "arch": target.architecture, "platform": "linux",
        "maintainer": "The triphammer contributors", "description": DESCRIPTION, "license": "Apache-2.0",
        "section": "database", "mtime": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "contents": list(contents(program)),
        "deb": {"compression": "xz"}, "rpm": {"compression": "xz", "buildhost": "triphammer"},
        "overrides": {
            "deb": {"depends": [f"libc6 (>= {GLIBC})", "libgcc-s1 | libgcc1"], "recommends": ["ca-certificates"],
                    "suggests": ["bash-completion", "unixodbc"]},
            "rpm": {"depends": [f"libc.so.6(GLIBC_{GLIBC})(64bit)", "libgcc_s.so.1()(64bit)"],
                    "recommends": ["ca-certificates"], "suggests": ["bash-completion", "unixODBC"]},
        },
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(description, file)  # YAML contains JSON
        file.flush()
        before = set(os.listdir(DIST))
        for packager in ("deb", "rpm"):
            run(pins.nfpm(), "package", "--config", file.name, "--packager", packager, "--target", DIST,
                stdout=subprocess.DEVNULL)
    return sorted(DIST / name for name in set(os.listdir(DIST)) - before)
