#!/usr/bin/env python3
"""Installs, uses and removes the files of target/dist in fresh Debians, as root; `make test-packages` builds them before.

    tools/test-packages.py [--python FILE]... [KIND]...

KIND is bad (what install.sh refuses), debian, rpm, image or wheels; without any, all are tried. Debian 11, 12 and 13 are made by debootstrap and
kept in $XDG_CACHE_HOME/triphammer or ~/.cache/triphammer. The wheel is tried on their versions of Python, and on the
interpreters that are given. Needs debootstrap, umoci and ssh-keygen.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from release import uses
from release.chroot import Chroot, Failed, check, fresh
from release.common import DIST, Stop, output, run
from release.papers import SUMS
from release.wheels import TRY

RELEASES = ["bullseye", "bookworm", "trixie"]
MACHINE = platform.machine()
ARCHIVE_MAX, IMAGE_MAX = 14_000_000, 60_000_000
FIRST_RESULT_MAX_S, PIP_MAX_S = 60, 20  # on busy hosts; 45 and 10 on idle ones


def made(pattern):
    """The file of the release that has this name."""
    found = list(DIST.glob(pattern))
    if len(found) != 1:
        raise Stop(f"{DIST} has {len(found)} files {pattern}: run `make dist`")
    return found[0]


def debian(folder):
    """On each Debian: the archive by hand, the Debian package, the archive by install.sh, and the wheel."""
    release_files = signed(folder)
    for release in RELEASES:
        print(release, flush=True)
        system = fresh(release, folder / release)
        system.put(release_files, "/tmp")
        by_hand(system)
        uses.prepare(system)
        deb(system)
        archive(system)
        system.put(made(f"*_{MACHINE}.whl"), "/tmp/wheel")
        system.install("python3-venv")
        system.run("python3", "-m", "venv", "/venv")
        wheel(f"/tmp/wheel/{made(f'*_{MACHINE}.whl').name}", release, system.run)
        shutil.rmtree(system.folder)


def by_hand(system):
    """From the archive to the first result, as a new user does it."""
    file = made(f"triphammer-*-{MACHINE}-linux.tar.gz")
    check(file.stat().st_size <= ARCHIVE_MAX, f"the archive has {file.stat().st_size / 1e6:.1f} MB")
    started = time.monotonic()
    system.run("tar", "-xzf", f"/tmp/release/{file.name}", "-C", "/opt")
    shown = system.run("sh", "-c", "cd /tmp && /opt/triphammer-*/bin/triphammer run")
    took = time.monotonic() - started
    check("NOPM" in shown, "the first run shows its result")
    check(took <= FIRST_RESULT_MAX_S, f"from the archive to the first result: {took:.0f} s")
    uses.missing(system, "/opt/" + next(system.path("/opt").glob("triphammer-*/bin/triphammer")).relative_to(
        system.path("/opt")).as_posix())


def deb(system):
    """The Debian package."""
    system.put(made(f"*_{'amd64' if MACHINE == 'x86_64' else 'arm64'}.deb"), "/tmp/deb")
    before = system.files()
    system.run("sh", "-c", "apt-get install -y -qq --no-install-recommends /tmp/deb/*.deb")
    installed = set(system.run("dpkg", "-L", "triphammer").split())
    policy(installed)
    used(system, "/usr")
    system.run("dpkg", "--purge", "triphammer")
    left = (system.files() - before) & installed
    check(not left, f"nothing is left of {len(installed)} paths when it is removed")


def policy(installed):
    """What Debian's policy wants: compressed manual pages and changelog, and a copyright file."""
    pages = [path for path in installed if path.startswith("/usr/share/man/man1/")]
    check(pages and all(path.endswith(".1.gz") for path in pages), f"{len(pages)} manual pages are compressed")
    documents = {f"/usr/share/doc/triphammer/{name}" for name in ("changelog.gz", "copyright", "THIRD-PARTY-LICENSES.gz")}
    check(documents <= installed, "the changelog is compressed, beside the copyright and other licences")


def used(system, prefix):
    """An installed program works."""
    program = f"{prefix}/bin/triphammer"
    uses.size(system.path(program))
    uses.program(system, program)
    uses.databases(system, program)
    uses.reading(system, f"{prefix}/share")


def archive(system):
    """The archive, by install.sh."""
    system.install("openssh-client")
    before = system.files()
    print(system.run("/tmp/release/install.sh", "--from", "file:///tmp/release", "--signers", "/tmp/release/key.pub"), end="")
    installed = system.files() - before
    used(system, "/usr/local")
    print(system.run("/tmp/release/install.sh", "--remove"), end="")
    left = system.files() & installed
    check(not left, f"nothing is left of {len(installed)} files when it is removed")


def signed(folder):
    """A copy of the archive and the installer, with sums that are signed by a key of its own."""
    release = folder / "release"
    release.mkdir()
    for file in (made(f"triphammer-*-{MACHINE}-linux.tar.gz"), DIST / "install.sh", DIST / SUMS):
        shutil.copy(file, release)
    for key in ("key", "other"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", key, "-f", release / key)
    run("ssh-keygen", "-q", "-Y", "sign", "-f", release / "key", "-n", "file", release / SUMS)
    return release


def bad(folder):
    """What install.sh must refuse: by a sentence, with exit code 2, and without installing anything."""
    release, prefix, tools = signed(folder), folder / "prefix", folder / "tools"
    tools.mkdir()
    signers = ("--signers", release / "key.pub")
    refused(release, prefix, "a key that is not in", "--signers", release / "other.pub")
    for tool, answer, sentence in (("getconf", "glibc 2.17", "needs glibc 2.28 or later, and this system has glibc 2.17"),
                                   ("uname", "$([ $1 = -s ] && echo Linux || echo riscv64)", "this machine is riscv64"),
                                   ("getconf", "", "the C library of this system is another one")):
        (tools / tool).write_text(f"#!/bin/sh\necho {answer}\n")
        (tools / tool).chmod(0o755)
        refused(release, prefix, sentence, path=tools)
        (tools / tool).unlink()
    refused(release, prefix, "the release has no archive for", "--static")
    refused(folder, prefix, "cannot read")
    (folder / "file").write_text("")
    refused(release, folder / "file", "nothing is installed")
    with open(next(release.glob("*.tar.gz")), "ab") as stream:
        stream.write(b"\0")
    refused(release, prefix, "SHA-256 sum", *signers)
    with open(release / SUMS, "a") as stream:
        stream.write("\n")
    refused(release, prefix, "the signature of SHA256SUMS is wrong", *signers)


def refused(release, prefix, sentence, *options, path=None):
    """install.sh says why it installs nothing."""
    environment = {**os.environ, "PATH": f"{path or '/none'}:{os.environ['PATH']}"}
    done = subprocess.run([DIST / "install.sh", "--from", release, "--prefix", prefix, *options], text=True,
                          capture_output=True, env=environment)
    nothing = not prefix.is_dir() or not any(prefix.iterdir())
    check(done.returncode == 2 and sentence in done.stderr and nothing, f"refused: {done.stderr.strip()}")


def rpm(folder):
    """The RPM package, with rpm's own tools. Debian's packages are not in rpm's list: it cannot see what they provide."""
    print("rpm", flush=True)
    system = fresh(RELEASES[-1], folder / "rpm")
    uses.prepare(system)
    system.install("rpm")
    system.put(made(f"*.{MACHINE}.rpm"), "/tmp/rpm")
    file = f"/tmp/rpm/{made(f'*.{MACHINE}.rpm').name}"
    needed = system.run("rpm", "-q", "--requires", "--package", file)
    check("GLIBC_2.28" in needed and "libgcc_s" in needed, "it needs glibc 2.28 and libgcc")
    before = system.files()
    system.run("rpm", "--install", "--nodeps", file)
    system.run("rpm", "--verify", "--nodeps", "triphammer")
    installed = system.files() - before
    used(system, "/usr")
    system.run("rpm", "--erase", "triphammer")
    left = system.files() & installed
    check(not left, f"nothing is left of {len(installed)} files when it is removed")


def image(folder):
    """The container image: unpacked by umoci, with its own command as its own user."""
    print("image", flush=True)
    file = made(f"*-{MACHINE}.oci.tar")
    check(file.stat().st_size <= IMAGE_MAX, f"the image has {file.stat().st_size / 1e6:.1f} MB")
    layout, bundle = folder / "layout", folder / "bundle"
    layout.mkdir()
    run("tar", "-xf", file, "-C", layout)
    run("umoci", "--log=error", "unpack", "--image", f"{layout}:{file.name.split('-')[1]}", bundle)
    config = json.loads((bundle / "config.json").read_text())
    process = config["process"]
    check(process["user"]["uid"] == 1000, "it does not run as root")
    check("/data" in [mount["destination"] for mount in config["mounts"]] and process["cwd"] == "/data", "its volume is /data")
    system = Chroot(bundle / "rootfs")
    system.user, system.workdir, system.home = "1000", "/data", "/data"
    command = process["args"]
    check(command[1] == "serve", f"its command is {' '.join(command)}")
    # A port of its own: this test runs beside others.
    uses.serve(system, *["127.0.0.1:0" if word.endswith(":7400") else word for word in command])
    uses.program(system, command[0])
    uses.missing(system, command[0])
    system.user = "root"
    system.put("/etc/resolv.conf", "/etc")
    uses.prepare(system)
    system.user = "1000"
    uses.databases(system, command[0])


def wheels(folder, interpreters):
    """The wheel, on the given interpreters."""
    for interpreter in interpreters:
        venv = folder / interpreter.strip("/").replace("/", "-")
        run(interpreter, "-m", "venv", venv)
        environment = {**os.environ, "TRIPHAMMER_STORE": str(venv / "jobs.sqlite")}
        wheel(made(f"*_{MACHINE}.whl"), interpreter, lambda first, *rest: output(
            f"{venv}{first.removeprefix('/venv')}", *rest, cwd=venv, env=environment))


def wheel(file, where, call):
    """The wheel is installed into an environment, used there, and removed."""
    started = time.monotonic()
    call("/venv/bin/pip", "install", "--quiet", "--no-index", file)
    took = time.monotonic() - started
    version = call("/venv/bin/python", "--version").strip()
    check(took <= PIP_MAX_S, f"wheel on {version} ({where}): installed in {took:.1f} s")
    check("ran" in call("/venv/bin/python", "-c", TRY), "the package works")
    check("triphammer" in call("/venv/bin/triphammer", "--version"), "its program works")
    call("/venv/bin/pip", "uninstall", "--quiet", "--yes", "triphammer")


KINDS = {"bad": bad, "debian": debian, "rpm": rpm, "image": image, "wheels": wheels}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="an interpreter to try the wheel on")
    parser.add_argument("kind", nargs="*", help="what to try")
    given = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("the packages are tested in chroots: run this as root")
    try:
        for kind in given.kind or KINDS:
            if kind not in KINDS:
                raise Stop(f"unknown kind: {kind}")
            with tempfile.TemporaryDirectory(prefix="triphammer-packages-") as folder:
                KINDS[kind](pathlib.Path(folder), *([given.python] if kind == "wheels" else []))
    except (Failed, Stop) as failed:
        sys.exit(f"the packages fail: {failed}")


if __name__ == "__main__":
    main()
