#!/usr/bin/env python3
"""Makes the files of a release, in target/dist: archives, Debian and RPM packages, wheels, a container image, list of parts,
sums.

    tools/dist.py [--target TRIPLE]... [--complete]     `make dist` builds the web page before
    tools/dist.py --compare                             makes them twice, in two folders, and compares every byte
    tools/dist.py --notes TAG                           prints what the changelog says about the version of a tag

What cannot be made here is left out and named; --complete makes that an error. The same commit gives the same files.

TRIPHAMMER_SIGNING_KEY names the file of the SSH key that signs the sums. TRIPHAMMER_RELEASE_URL is where the files will be:
install.sh downloads from there by default.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from release import build, image, pack, papers, share, wheels
from release.common import DIST, ROOT, Stop, run, version


class Release:
    """The files so far, and what is missing."""

    def __init__(self):
        self.files, self.left_out, self.programs, self.images = [], {}, {}, {}

    def add(self, *files):
        for file in files:
            print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB", flush=True)
        self.files += files

    def leave_out(self, what, why):
        print(f"left out: {what}: {why}", flush=True)
        self.left_out[what] = why

    def compile(self, targets):
        """The programs, that of this machine first: it makes manual pages and completions."""
        for target in targets:
            obstacle = build.obstacle(target)
            if obstacle:
                self.leave_out(target.triple, obstacle)
            else:
                self.programs[target] = build.program(target)
        here = [target for target in self.programs if target.machine == platform.machine()]
        if not here:
            raise Stop(f"manual pages and completions are made by a program for {platform.machine()}: build that too")
        print(share.make(self.programs[here[0]], here[0].triple), flush=True)

    def pack(self):
        """Archives, packages, images and wheels of all targets."""
        for target, program in self.programs.items():
            self.add(pack.archive(target, program))
            if target.static:
                continue
            packages = pack.packages(target, program)
            self.add(*packages)
            obstacle = image.obstacle(target)
            if obstacle:
                self.leave_out(f"image for {target.machine}", obstacle)
            else:
                [package] = [file for file in packages if file.suffix == ".deb"]
                file, self.images[target.machine] = image.make(target, package)
                self.add(file)
            self.add(wheels.wheel(target))

    def finish(self):
        """What is there once: source distribution, installer, papers."""
        first = next(iter(self.programs))
        self.add(wheels.source(first))
        self.add(installer())
        self.add(papers.sbom(first.triple))
        self.add(papers.description(self.programs, self.left_out, self.files, {"debian_packages": self.images}))
        print(papers.sums(self.files))


def installer():
    """install.sh, with the address of the release."""
    text = (ROOT / "install.sh").read_text()
    url = os.environ.get("TRIPHAMMER_RELEASE_URL", "")
    file = DIST / "install.sh"
    file.write_text(text.replace("\nfrom=\n", f"\nfrom='{url}'\n") if url else text)
    file.chmod(0o755)
    return file


def make(triples, complete):
    """Makes the release."""
    unknown = set(triples) - {target.triple for target in build.TARGETS}
    if unknown:
        raise Stop(f"unknown targets: {', '.join(sorted(unknown))}")
    started = time.monotonic()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    release = Release()
    release.compile([target for target in build.TARGETS if not triples or target.triple in triples])
    release.pack()
    release.finish()
    print(f"{len(release.files)} files in {DIST} after {time.monotonic() - started:.0f} s")
    if complete and release.left_out:
        raise Stop(f"the release is not complete: {', '.join(release.left_out)}")


def compare(triples):
    """Makes the release in two clones of the last commit, and compares the sums."""
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
    options = [word for triple in triples for word in ("--target", triple)]
    with tempfile.TemporaryDirectory(prefix="triphammer-dist-") as folder:
        sums = []
        for name in ("one", "another/one"):
            clone = pathlib.Path(folder, name)
            run("git", "clone", "--quiet", ROOT, clone)
            run("make", "--silent", "-C", clone, "ui", env=environment)
            run("tools/dist.py", *options, cwd=clone, env=environment)
            lines = (clone / "target/dist" / papers.SUMS).read_text().splitlines()
            sums.append({line.split("  ")[1]: line for line in lines})
    different = sorted(name for name in sums[0] | sums[1] if sums[0].get(name) != sums[1].get(name))
    if different:
        raise Stop(f"two builds of one commit differ: {', '.join(different)}")
    print(f"two builds gave the same {len(sums[0])} files")


def notes(tag):
    """The changelog's section of this version, which the tag must name."""
    if tag != f"v{version()}":
        raise Stop(f"the tag {tag} is not the version of Cargo.toml, {version()}")
    sections = re.split(r"^## (.+)\n", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    found = dict(zip(sections[1::2], sections[2::2]))
    titles = [title for title in found if title.split()[0] == version() and "unreleased" not in title]
    if not titles:
        raise Stop(f"CHANGELOG.md has no section of {version()}, or it is still called unreleased")
    return found[titles[0]].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", default=[], metavar="TRIPLE", help="build for this one only")
    parser.add_argument("--complete", action="store_true", help="nothing may be left out")
    parser.add_argument("--compare", action="store_true", help="build twice and compare")
    parser.add_argument("--notes", metavar="TAG", help="print the notes of a release")
    given = parser.parse_args()
    try:
        if given.notes:
            print(notes(given.notes))
        elif given.compare:
            compare(given.target)
        else:
            make(given.target, given.complete)
    except Stop as stop:
        print(f"dist: {stop}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
