#!/usr/bin/env python3
"""The Debian package in a Debian of its own: installed by the steps of the Dockerfile, used, and removed.

    tools/test-packages.py           as root, with debootstrap; `make test-packages` builds the package before

The fresh Debian is kept in $XDG_CACHE_HOME/triphammer or ~/.cache/triphammer. Docker is not needed: COPY, RUN, USER,
WORKDIR, ENTRYPOINT and CMD are done here. The chroot has mounts and processes of its own, which end with each command.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIRROR = "http://deb.debian.org/debian"
BYTES_MAX = 30_000_000          # of the installed program
STEP_MAX_S = 300
SHELLS = {                      # completion of `triphammer pro` and Tab
    "bash": "source /usr/share/bash-completion/completions/triphammer; COMP_WORDS=(triphammer pro); COMP_CWORD=1; "
            "_triphammer triphammer pro triphammer; echo ${COMPREPLY[@]}",
    "zsh": "autoload -Uz compinit && compinit -D && echo ${_comps[triphammer]} "
           "&& autoload -Uz +X _triphammer && functions _triphammer | grep -o 'profile' | head -1",
    "fish": "complete --do-complete 'triphammer pro'",
}


class Failed(Exception):
    """A failed check."""


def check(holds, what):
    print("ok  " if holds else "FAIL", what, flush=True)
    if not holds:
        raise Failed(what)


class Chroot:
    """A Debian in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.user, self.workdir = "root", "/"

    def path(self, inside):
        return os.path.join(self.folder, inside.lstrip("/"))

    def argv(self, args):
        """A command in there: with its own mounts, so that nothing stays mounted, and as the image's user."""
        inside = ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups",
                  "env", "-C", self.workdir, "HOME=" + self.workdir] + args
        script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, self.folder] + inside

    def run(self, *args):
        done = subprocess.run(self.argv(list(args)), text=True, capture_output=True, timeout=STEP_MAX_S)
        if done.returncode:
            raise Failed(f"{' '.join(args)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *args):
        return subprocess.Popen(self.argv(list(args)), text=True, stdout=subprocess.PIPE)

    def files(self):
        """All files that packages may own: everything except state."""
        found = set()
        for top in ("usr", "etc", "opt"):
            for folder, _, names in os.walk(self.path(top)):
                found.update(os.path.join(folder, name) for name in names)
        return found


def debian():
    """The folder of the fresh Debian, which is created once."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "triphammer", "bookworm")
    if not os.path.isdir(folder):
        if not shutil.which("debootstrap"):
            sys.exit("the packages are tested in a Debian that debootstrap makes: apt-get install debootstrap")
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        half = tempfile.mkdtemp(dir=os.path.dirname(folder))
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", half, MIRROR], check=True,
                       stdout=subprocess.DEVNULL)
        os.chmod(half, 0o755)
        os.rename(half, folder)
    return folder


def dockerfile():
    """The Dockerfile's steps, each a word and the rest of its line."""
    with open(os.path.join(ROOT, "Dockerfile")) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


def image(chroot):
    """Runs the Dockerfile's steps; returns the image's command."""
    entrypoint = command = []
    for word, rest in dockerfile():
        if word == "COPY":
            *sources, to = rest.split()
            os.makedirs(chroot.path(to))
            for source in sources:
                found = glob.glob(os.path.join(ROOT, source))
                check(len(found) == 1, f"COPY {source}: one file")
                shutil.copy(found[0], chroot.path(to))
        elif word == "RUN":
            chroot.run(*rest.split())
        elif word == "USER":
            chroot.user = rest
        elif word == "WORKDIR":
            chroot.workdir = rest
        elif word == "ENTRYPOINT":
            entrypoint = json.loads(rest)
        elif word == "CMD":
            command = json.loads(rest)
        elif word not in ("FROM", "EXPOSE"):
            raise Failed(f"the Dockerfile has a step that this test cannot do: {word}")
    return entrypoint, command


def use(chroot, entrypoint, command):
    """The program works as the image's user."""
    check("Database load testing" in chroot.run(*entrypoint, *command), "the image's command shows the help")
    result = json.loads(chroot.run(*entrypoint, "run", "--vus", "2", "--rampup", "0s", "--duration", "2s", "--json"))
    check(result["primary_metric"]["value"] > 0, "a run on the embedded default measures something")
    size = os.path.getsize(chroot.path("/usr/bin/triphammer"))
    check(size <= BYTES_MAX, f"the program has {size / 1e6:.1f} MB")
    server = chroot.start(*entrypoint, "serve", "--listen", "127.0.0.1:0")
    try:
        url = re.search(r"http://\S+?(?=/\?token)", server.stdout.readline()).group()
        with urllib.request.urlopen(url, timeout=30) as answer:
            page = answer.read().decode()
        check("/assets/" in page, "serve has its page")
    finally:
        server.kill()  # unshare ignores gentler signals; its child ends with it
        server.wait(timeout=60)


def policy(installed):
    """What Debian's policy wants: compressed manual pages and changelog, and a copyright file."""
    pages = [path for path in installed if path.startswith("/usr/share/man/man1/")]
    check(pages and all(path.endswith(".1.gz") for path in pages), f"{len(pages)} manual pages are compressed")
    documents = {f"/usr/share/doc/triphammer/{name}" for name in ("changelog.gz", "copyright")}
    check(documents <= installed, "the changelog is compressed, beside the copyright")


def read(chroot):
    """Manual pages and completions work where man and the shells look."""
    chroot.run("apt-get", "update", "-qq")
    chroot.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "man-db", "zsh", "fish")
    for page in ("triphammer", "triphammer-run", "triphammer-serve"):
        text = chroot.run("man", "--warnings", page)
        check("NAME" in text and "OPTIONS" in text, f"man {page}")
    for shell, script in SHELLS.items():
        check("profile" in chroot.run(shell, "-c", script), f"{shell} completes a command")


def main():
    if os.geteuid() != 0:
        sys.exit("the packages are tested in a chroot: run this as root")
    with tempfile.TemporaryDirectory(prefix="triphammer-package-") as folder:
        chroot = Chroot(os.path.join(folder, "debian"))
        subprocess.run(["cp", "-a", debian(), chroot.folder], check=True)
        before = chroot.files()
        entrypoint, command = image(chroot)
        installed = set(chroot.run("dpkg", "-L", "triphammer").split())
        policy(installed)
        use(chroot, entrypoint, command)
        chroot.user, chroot.workdir = "root", "/"
        read(chroot)
        chroot.run("dpkg", "--purge", "triphammer")
        left = {file for file in chroot.files() - before if file.removeprefix(chroot.folder) in installed}
        check(not left, f"nothing is left of {len(installed)} paths when it is removed")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"the package fails: {failed}")
