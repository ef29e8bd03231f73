"""Fresh Debians in folders, to try packages in. Commands in them have mounts and processes of their own, which end with each."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from .common import CACHE, Stop, run

MIRROR = "http://deb.debian.org/debian"
STEP_MAX_S = 300


class Failed(Exception):
    """A failed check."""


def check(holds, what):
    """Prints a check and its result."""
    print("ok  " if holds else "FAIL", what, flush=True)
    if not holds:
        raise Failed(what)


class Chroot:
    """A system in a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.user, self.workdir, self.home, self.variables = "root", "/", "/root", {}

    def path(self, inside):
        return self.folder / str(inside).lstrip("/")

    def put(self, source, inside):
        """Copies files or a folder into a folder of the system."""
        self.path(inside).mkdir(parents=True, exist_ok=True)
        run("cp", "-r", source, self.path(inside))

    def argv(self, args):
        """A command in there: with its own mounts, so that nothing stays mounted, and as the user."""
        words = [f"{name}={value}" for name, value in {"HOME": self.home, **self.variables}.items()]
        inside = ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups", "env", "-C", self.workdir,
                  *words, *map(str, args)]
        script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, str(self.folder), *inside]

    def attempt(self, *args):
        """Runs a command; returns how it ended."""
        return subprocess.run(self.argv(args), text=True, capture_output=True, timeout=STEP_MAX_S)

    def run(self, *args):
        """Runs a command that must succeed; returns what it prints."""
        done = self.attempt(*args)
        if done.returncode:
            raise Failed(f"{' '.join(map(str, args))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *args):
        """Starts a command."""
        return subprocess.Popen(self.argv(args), text=True, stdout=subprocess.PIPE)

    def install(self, *packages):
        """Installs packages of Debian, with what they need only."""
        self.run("sh", "-c", "[ -e /var/lib/apt/updated ] || { apt-get update -qq && touch /var/lib/apt/updated; }")
        self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq",
                 "--no-install-recommends", *packages)

    def files(self):
        """All files that packages may own, as paths in the system: everything except state."""
        found = set()
        for top in ("usr", "etc", "opt"):
            for folder, _, names in os.walk(self.folder / top):
                found.update("/" + os.path.relpath(os.path.join(folder, name), self.folder) for name in names)
        return found


def debian(release):
    """The folder of a fresh Debian, which is created once."""
    folder = CACHE / release
    if not folder.is_dir():
        if not shutil.which("debootstrap"):
            raise Stop("packages are tested in Debians that debootstrap makes: apt-get install debootstrap")
        CACHE.mkdir(parents=True, exist_ok=True)
        half = pathlib.Path(tempfile.mkdtemp(dir=CACHE))
        run("debootstrap", "--variant=minbase", release, half, MIRROR, stdout=subprocess.DEVNULL)
        half.chmod(0o755)
        half.rename(folder)
    return folder


def fresh(release, folder):
    """A copy of a fresh Debian in a folder, which is made."""
    run("cp", "-a", debian(release), folder)
    return Chroot(folder)
